"""Words of the bench's English: topics, each with people's doings, things, details and remarks.

A topic's things are plural or uncountable, so that every pattern in `text.py` reads well.
"""

from __future__ import annotations

from typing import NamedTuple


class Topic(NamedTuple):
    """What a message can be about."""

    doings: tuple[str, ...]  # "Maria <doing>"; past tense
    things: tuple[str, ...]  # "the <thing>"
    places: tuple[str, ...]  # "<place>", with its preposition
    remarks: tuple[str, ...]  # sentences that stand alone


def _topic(doings: str, things: str, places: str, remarks: str) -> Topic:
    return Topic(*(tuple(part.split("; ")) for part in (doings, things, places, remarks)))


def _words(line: str) -> tuple[str, ...]:
    return tuple(line.split())


TOPICS = (
    _topic(
        "repotted; pruned; watered; replanted; fertilised; mulched",
        "tomato seedlings; lavender bushes; climbing roses; apple saplings; herb boxes",
        "in the greenhouse; behind the shed; on the south terrace; along the fence",
        "The frost came early this year; Slugs ate most of the lettuce; The soil is still too wet",
    ),
    _topic(
        "baked; overcooked; salted; tasted; photographed; froze",
        "sourdough loaves; mushroom dumplings; lentil soup; cinnamon rolls; pickled cucumbers",
        "in the new oven; at the street market; for the potluck; at grandmother's kitchen table",
        "The recipe needs less sugar; Nobody liked the burnt crust; The starter finally woke up",
    ),
    _topic(
        "booked; cancelled; postponed; compared; confirmed; refunded",
        "train tickets; hostel beds; ferry crossings; rental bikes; museum passes",
        "in Lisbon; near the old harbour; for the trip to Kyoto; on the way to Oslo",
        "The visa took nine days; Our luggage went to another city; The night bus was freezing",
    ),
    _topic(
        "refactored; benchmarked; rewrote; reviewed; deployed; reverted",
        "payment webhooks; parser tests; cache headers; retry policies; database migrations",
        "on the staging cluster; in the release branch; behind a feature flag; in the monorepo",
        "The build fails only on Fridays; A deadlock hid in the logger; Coverage dropped a little",
    ),
    _topic(
        "borrowed; finished; reread; annotated; recommended; returned",
        "detective novels; poetry volumes; travel diaries; graphic novels; history essays",
        "at the corner library; in the reading club; before bed; on the commuter train",
        "The last chapter felt rushed; The narrator lies all along; The translation is superb",
    ),
    _topic(
        "bandaged; vaccinated; groomed; adopted; chased; fed",
        "stray kittens; guinea pigs; two greyhounds; the neighbour's hens; rescue parrots",
        "at the animal shelter; in the back yard; at the vet's clinic; by the pond",
        "The puppy chewed another shoe; The cat hates the carrier; Feathers are everywhere",
    ),
    _topic(
        "tuned; recorded; rehearsed; restrung; composed; transcribed",
        "cello duets; jazz standards; acoustic guitars; drum loops; choir harmonies",
        "in the basement studio; at the open mic; for the spring concert; in rehearsal room four",
        "The second verse is too long; The pianist plays by ear; The microphone hums in the left",
    ),
    _topic(
        "sanded; varnished; repaired; measured; insulated; dismantled",
        "oak shelves; kitchen drawers; window frames; attic stairs; garage doors",
        "in the workshop; on the first floor; next to the boiler; in the guest room",
        "The drill battery is dead again; One hinge is missing; The paint smells for days",
    ),
    _topic(
        "timed; coached; won; lost; paused; repeated",
        "interval runs; climbing routes; tennis matches; rowing sessions; swimming heats",
        "on the north trail; at the sports hall; around the lake; under floodlights",
        "My left knee hurts after hills; The stopwatch was off by a second; The coach moved away",
    ),
    _topic(
        "paid; disputed; forwarded; scanned; archived; totalled",
        "electricity bills; dental invoices; insurance claims; rent receipts; tax forms",
        "at the savings bank; through the portal; in the blue folder; before the deadline",
        "The late fee was waived; The account number changed; They charged the deposit twice",
    ),
    _topic(
        "sketched; framed; sold; restored; hung; varnished",
        "watercolour portraits; linocut prints; charcoal studies; clay figurines; silk collages",
        "at the gallery; in the evening class; on the hallway wall; at the autumn fair",
        "The light there is too yellow; The curator never answers; The clay cracked in the kiln",
    ),
    _topic(
        "measured; cultured; labelled; pipetted; imaged; discarded",
        "yeast samples; soil bacteria; protein crystals; zebrafish larvae; blood smears",
        "in lab three; at the field station; under the new microscope; in the cold room",
        "The control group behaves strangely; Reagents arrive on Monday; The centrifuge is loud",
    ),
    _topic(
        "graded; explained; translated; rehearsed; corrected; printed",
        "spelling tests; algebra worksheets; science posters; reading logs; exam papers",
        "in class seven; at the parents' evening; after lunch break; for the substitute teacher",
        "Half of the pupils had the flu; The projector blinks; The bus leaves at a quarter past",
    ),
    _topic(
        "charged; serviced; parked; washed; test-drove; insured",
        "electric scooters; delivery vans; winter tyres; cargo bikes; brake pads",
        "at the garage on Mill Street; in the car park; before the inspection; by the tram depot",
        "The warning light stays on; The mechanic found rust; The range drops in the cold",
    ),
    _topic(
        "spotted; counted; filmed; tagged; mapped; mistook",
        "barn owls; migrating cranes; red foxes; orchid meadows; beaver dams",
        "beyond the marsh; near the observation tower; at first light; along the river bend",
        "The binoculars fogged up; The ranger closed the path; It rained from noon until dark",
    ),
    _topic(
        "scheduled; moderated; skipped; summarised; recorded; shortened",
        "planning meetings; design reviews; customer calls; stand-ups; budget talks",
        "in room twelve; over video; with the vendor; before the quarter ends",
        "Nobody wrote the minutes; The agenda changed twice; The client wants it in green",
    ),
    _topic(
        "knitted; hemmed; dyed; embroidered; mended; unravelled",
        "wool scarves; linen curtains; quilt squares; denim jackets; baby mittens",
        "at the craft circle; on the old sewing machine; for the charity stall; by the fireplace",
        "The pattern skips a row; The blue thread ran out; The zip jams halfway",
    ),
    _topic(
        "prescribed; refilled; swallowed; stopped; doubled; missed",
        "allergy tablets; vitamin drops; antibiotics; iron capsules; eye drops",
        "at the pharmacy; after the check-up; on doctor Weber's advice; during the second week",
        "The rash is almost gone; The waiting room was full; The results come by letter",
    ),
    _topic(
        "assembled; calibrated; soldered; reset; unboxed; reprogrammed",
        "weather sensors; robot arms; ham radios; smart thermostats; camera drones",
        "at the maker space; on the balcony; with a borrowed iron; in the server closet",
        "The firmware bricks itself; One resistor was backwards; The manual is only in Finnish",
    ),
    _topic(
        "invited; seated; toasted; surprised; photographed; thanked",
        "wedding guests; old classmates; birthday visitors; colleagues; cousins from abroad",
        "at the lake house; in the town hall; on the roof terrace; at the harvest party",
        "The cake arrived an hour late; Somebody brought an accordion; The speech made her cry",
    ),
)

PEOPLE = _words(
    "Maria Jonas Priya Tomasz Aiko Samuel Leila Henrik Chidi Rosa Viktor Mei Olga Diego Hannah "
    "Yusuf Ingrid Kwame Elif Bruno Sofia Nikhil Greta Marcus Amara Felix Noor Pavel Clara Idris "
    "Wendy Otto Fatima Liam Zofia Hugo Esther Rajiv Nina Walter"
)

OPENINGS = (
    "Yesterday {who}",
    "This morning {who}",
    "In {month} {who}",
    "On {day} {who}",
    "As you asked, {who}",
    "Before the {nth} of {month} {who}",
    "By the way, {who}",
    "For the {nth} time, {who}",
    "Together with {other}, {who}",
    "Without telling {other}, {who}",
)

CLOSINGS = (
    "and it cost {number} euros",
    "and that took {number} minutes",
    "although {other} had asked us to wait",
    "because {other} needs an answer by {day}",
    "so we have {number} left",
    "and {other} was there too",
    "while {other} took the notes",
    "but only {number} of them were any good",
)

ASIDES = (
    "Please remind {other} about it on {day}",
    "{other} keeps number {number} for us until {month}",
    "I would rather do it with {other} next {month}",
    "We agreed on {number} and not a single one more",
    "Ask {other} whether {day} at {hour} suits everyone",
    "{other} says that {number} is the figure to remember",
    "It should be done by {hour} on {day}",
    "The note on the door says {number} in {other}'s handwriting",
)

QUESTIONS = (
    "who {doing} the {thing} {place}?",
    "when was it that {who} {doing} the {thing}?",
    "what did {other} say about the {thing} {place}?",
    "how many {thing} did {who} have in {month}?",
    "did {who} ever mention the {thing} {place}?",
    "why had {other} asked {who} about the {thing}?",
    "which of the {thing} were {place} in {month}?",
    "where are the {thing} that {who} {doing} last {day}?",
)

MONTHS = _words(
    "January February March April May June July August September October November December"
)
DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
