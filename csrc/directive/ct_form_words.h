/* Words and phrases that ct_form.c looks for: lower case, a phrase's words by single spaces.  Each
 * list ends with NULL. */
#ifndef CT_FORM_WORDS_H
#define CT_FORM_WORDS_H

#include <stddef.h>

typedef const char *const words_list[];

/* Before a main clause, and no part of it. */
static words_list fillers = {
    "ok", "okay", "hey", "hi", "hello", "also", "and", "but", "so", "oh", "please", "pls", "btw", "by the way",
    "well", "again", "then", "anyway", "thanks", "thank you", "one more thing", "important", "note", "reminder",
    "kindly", "yes", "no worries", "just", "for the record", "remember that", "generally", NULL};

static words_list scopes = {
    "from now on", "from here on", "from here on out", "from this point on", "from today on", "from today",
    "going forward", "moving forward", "in future", "in the future", "henceforth", "hereafter", "starting today",
    "starting now", "starting tomorrow", "as of now", "as of today", "until further notice", "at all times",
    "until i say otherwise", "in every case", "as a rule", "in general", "by default", "no matter what",
    "unless i say otherwise", "unless i ask", "unless told otherwise", "unless i tell you", "for the rest of",
    "for the future", "without exception", "at any time", "under no circumstances", "on no account",
    "in this project", "in this repo", "in this repository", "in this codebase", "in this chat", "in this session",
    "in this conversation", "in this team", "in this workspace", "in here", "in our repo", "in our codebase", "in my code", "for this project", "for this repo", "in your answers", "in your replies", NULL};

/* They open a clause that a main clause follows. */
static words_list openers = {
    "when", "whenever", "if", "before", "after", "every time", "each time", "any time", "anytime", "once", "unless",
    "for", "in", "on", "at", "every", "with", "during", "as", "until", "whatever", "wherever", "while", "where",
    "as long as", "as soon as", "each", NULL};

static words_list occasions = {
    "whenever", "every time", "each time", "any time", "anytime", "when you", "when i", "if i say", "if i ask", "if i sound", "if you", "before you",
    "before every", "before each", "before any", "after every", "after each", "after any", "with every", "with each",
    "if something", "if a", "if my", "when tests", "when the user", "if the user", "when a", "unless i", "unless you",
    "whatever i", "without asking", "without my", "without telling", "without checking", "without me", "ask me before",
    "ask before", "every sunday", "every monday", "every friday", "every day", "every morning", "every week",
    "every evening", "every month", "wherever", NULL};

static words_list everys = {"every", "each", "all", "any", "anything", "everything", "everywhere", "everyone", "anyone",
                            "anybody", "everybody", "both", "whatever", NULL};

static words_list constants = {"always", "never", "ever", "anymore", "any more", "consistently", "constantly", NULL};

/* Only this time. */
static words_list onces = {
    "now", "today", "tonight", "tomorrow", "yesterday", "this time", "just this once", "right now", "right away",
    "for now", "yet", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "noon", "midnight",
    "o'clock", "this week", "this weekend", "next week", "this morning", "this evening", "this afternoon", "this run",
    "at five", "at six", "at three", "in may", "when you get", "when it's done", "when it is done", "first time",
    "when you can", "asap", "this once", "for a moment", "for a minute",
    "if you have time", "if you have a minute", "when you have time", "when you see", "for tonight", "before we", "so far", NULL};

static words_list these = {"this", "these", "those", "it", "him", "her", "them", "he", "she", "his", NULL};
static words_list object_definites = {"the", "his", "her", "their", "our", "its", NULL};
static words_list object_these = {"this", "that", "these", "those", "it", "him", "them", NULL};
static words_list object_persons = {"me", "my", "us", "your", "yourself", NULL};
static words_list pleases = {"please", "pls", NULL};
static words_list definites = {"the", NULL};
static words_list firsts = {"i", "we", "i'm", "i've", "i'd", "i'll", "we're", "we've", "we'd", "we'll", "my", "our",
                            "mine", NULL};
static words_list seconds = {"you", "yours", "you're", "you'll", "yourself", NULL};
static words_list yours = {"your", NULL};
static words_list indefinites = {"a", "an", NULL};

/* Verbs that tell how to do things rather than to do one. */
static words_list manners = {
    "use", "keep", "write", "answer", "reply", "respond", "speak", "talk", "call", "treat", "assume", "stick", "avoid",
    "prefer", "refer", "sign", "log", "name", "pin", "address", "ask", "base", "respect", "refuse", "limit", "leave",
    "stay", "quote", "cite", "round", "spell", "format", "default", "accept", "share", "commit", "deploy", "push", "pay",
    "schedule", "wake", "explain", "repeat", "put", "be", "include", "mention", "choose", "order", "say", "indent", NULL};

/* What an assistant makes or handles again and again. */
static words_list outputs = {
    "answer", "answers", "reply", "replies", "response", "responses", "message", "messages", "email", "emails", "emojis", "emoji",
    "sentence", "sentences", "paragraph", "paragraphs", "bullet", "bullets", "lists", "tables", "markdown", "summary", "summaries",
    "tone", "style", "units", "metric", "euros", "dates", "times", "english", "german", "french", "spanish", "spelling",
    "comma", "commas", "words", "language", "voice", "commits", "commit", "tests", "comments", "functions", "variables", "names",
    "branches", "code", "docs", "documentation", "docstring", "docstrings", "migrations", "dependencies", "commas", "semicolons",
    "abbreviations", "citations", "sources", "disclaimers", "jargon", "meetings", "appointments", "calls", "invoices", "receipts",
    "recipes", "hotels", "flights", "trains", "seats", "recommendations", "suggestions", "prices", "numbers", "pronouns", "json",
    "typescript", "python", "tabs", "spaces", "imports", "versions", "logs", "prs", "requests", "text", "texts", "documents", "user",
    NULL};

/* Somebody else said it. */
static words_list reports = {"said", "says", "sang", "sings", "hummed", "told us", "told me", "told him", "told her", "used to say", "as they say",
                             "writes", "wrote", "shouted", "goes the", "we were told", "the saying", NULL};

/* "do you ...", "do I ..." */
static words_list subject_pronouns = {"you", "i", "we", "they", "he", "she", "it", NULL};

/* The first word of a clause that says something of somebody or something. */
static words_list subjects = {
    "i", "we", "he", "she", "it", "they", "there", "this", "that", "these", "those", "the", "a", "an", "my", "our", "his",
    "her", "its", "their", "i'm", "i've", "i'd", "i'll", "we're", "we've", "we'd", "we'll", "he's", "she's", "it's",
    "they're", "that's", "there's", "here", "here's", "what", "who", "why", "how", "which", "where", "nobody",
    "everybody", "somebody", "someone", "people", "most", "some", "one", "imagine", "suppose", "say", "maybe",
    "perhaps", "yesterday", "today", "tomorrow", NULL};

/* Finite verbs soon behind a word that is a verb or a noun make it a noun: "call quality was". */
static words_list finites = {
    "is", "are", "was", "were", "went", "has", "had", "will", "would", "can", "could", "goes", "go", "came", "comes",
    "vary", "varies", "rotate", "opens", "meets", "doubles", "means", "isn't", "wasn't", "aren't", "did", "does", "doesn't", "works", NULL};

static words_list stops = {"stop", "quit", "avoid", "refrain", "cease", "drop", "skip", NULL};
static words_list ensures = {"make sure", "be sure", "ensure", "see to it", "take care to", "remember to", "make it a habit",
                             "be careful to", "keep in mind", "bear in mind", NULL};
static words_list prefers = {"prefer", "favour", "favor", "stick to", "stick with", "default to", "opt for", "assume",
                             "treat", "consider", NULL};
static words_list names = {"call me", "call us", "address me", "refer to", "address my", "use my", "call my", NULL};
static words_list reminders = {"don't forget", "do not forget", "remember the", "don't be late", "be sure to try", "remind me to", NULL};

/* Set phrases that look like commands. */
static words_list idioms = {
    "never mind", "nevermind", "never again", "never say never", "don't worry", "don't mention", "don't get me wrong",
    "don't ask me", "don't tell me", "don't cry", "let's", "let us", "let me", "let it", "trust me", "believe it",
    "hang in", "hold on", "take care", "see you", "get well", "keep going", "keep it up", "have a", "have it", "guess what",
    "excuse", "enjoy", "mind the", "look before", "say hi", "sleep", "welcome", "think about", "do as you", "look it's",
    "never gonna", "don't go", "thank", "never thought", "never seen", "never have", "never had", "never did",
    "don't count", "call it a day", "remember when", "remember me", "get well", "do as",
    "treat yourself", "help yourself", "no problem", "no luck", "no idea", "no way", "no doubt", "no wonder", "no thanks", "no rush", "no one", "no need",
    "no chance", "no hurry", "only if", "only when", NULL};

static words_list wants = {"i want you to", "i'd like you to", "i would like you to", "i need you to", "i expect you to",
                           "i'd prefer it if you", "i'd prefer you", "i would prefer it if you", "i'd rather you",
                           "i would rather you", "i'd appreciate it if you", "i want all", "i want every", "i never want",
                           "i don't want any", "i don't want you to", "i don't ever want", "i do not want", NULL};
static words_list musts = {"you should", "you must", "you need to", "you have to", "you are to", "you're to",
                           "you are not", "you're not", "you may not", "you cannot", "you can't", "you shouldn't",
                           "you mustn't", "you are never", "you shall", NULL};
static words_list not_musts = {"you should have", "you should be able", "you must be", "you must have", "you have to see",
                               "you have to be", "you need to know", "you have to know", "you must know", NULL};
static words_list needs = {"must", "should", "needs", "need to", "has to", "have to", "goes", "go to", "goes to", NULL};
static words_list asks = {"could you", "can you", "would you", "will you", "would you mind", "can we agree", "could we agree", NULL};
static words_list fragments = {"no", "at most", "at least", "no more", "nothing", "only", NULL};

/* Of a sentence that lifts a directive.  Those of `lifted` only with one of `lifters`. */
static words_list withdrawals = {
    "you don't have to", "you do not have to", "you don't need to", "you do not need to", "you needn't", "no need to",
    "you don't always have to", "you no longer", "i no longer", "no longer applies", "no longer needed", "forget what i said",
    "forget about the", "ignore my earlier", "ignore what i said", "i take back", "scratch what i said",
    "don't bother", "do not bother", "not necessary any more", "not necessary anymore", "i changed my mind about",
    "we dropped the rule", "the rule about", "you're allowed to", "you are allowed to", "feel free to",
    "you can go back to", NULL};
static words_list lifted = {"you can", "you may", "it's fine to", "it is fine to", "it's ok to", "it is ok to",
                            "it's okay to", "it is okay to", "is fine", "are fine", "is ok", "are ok", "is okay", "are okay",
                            "is allowed", "are allowed", NULL};
static words_list lifters = {"again", "any more", "anymore", "any longer", "now", NULL};

/* The base forms that commands to an assistant start with. */
static words_list verbs = {
    "accept", "act", "add", "address", "adjust", "allow", "amend", "answer", "append", "apply", "approve", "ask", "assign", "assume", "attach", "base", "be",
    "begin", "block", "book", "break", "bring", "build", "buy", "bump", "call", "cancel", "change", "check", "choose", "cite", "clean", "clear", "close",
    "collect", "comment", "commit", "compare", "compile", "confirm", "consider", "contact", "convert", "copy", "correct", "create", "cut",
    "debug", "decline", "define", "delete", "deploy", "describe", "discuss", "disable", "display", "do", "document", "double-check", "download", "draft",
    "edit", "email", "enable", "end", "escape", "expect", "explain", "export", "favour", "fetch", "file", "fill", "finish", "fix", "focus", "follow", "force",
    "forward", "format", "generate", "get", "give", "greet", "group", "guess", "handle", "hide", "highlight", "hold", "ignore", "implement", "import", "include",
    "indent", "inform", "insert", "install", "invent", "invite", "keep", "label", "leave", "limit", "link", "lint", "list", "load", "lock", "log", "look", "maintain",
    "make", "mark", "mention", "merge", "mock", "modify", "move", "mute", "name", "notify", "number", "obey", "offer", "omit", "open", "order", "organise",
    "organize", "pack", "pass", "paste", "pay", "pick", "pin", "place", "plan", "play", "point", "post", "prefer", "prefix", "prepare", "present", "print",
    "prioritise", "prioritize", "produce", "propose", "protect", "provide", "pull", "push", "put", "quote", "raise", "read", "rebase", "recommend", "record",
    "reduce", "refer", "reformat", "refuse", "release", "remember", "remind", "remove", "rename", "repeat", "replace", "reply", "report", "request", "reschedule", "reserve",
    "respect", "respond", "restart", "return", "reveal", "review", "revert", "round", "run", "save", "say", "schedule", "search", "send", "separate", "set", "share",
    "ship", "show", "sign", "skip", "solve", "sort", "sound", "speak", "spell", "split", "squash", "stage", "start", "state", "stay", "stick", "store",
    "structure", "stop", "suggest", "summarise", "summarize", "suppress", "switch", "tag", "take", "talk", "tell", "test", "text", "think", "touch", "track", "translate",
    "treat", "trim", "try", "turn", "type", "uncomment", "update", "upgrade", "upload", "use", "validate", "verify", "wait", "wake", "warn", "watch", "work", "wrap",
    "write", "ensure", "cover", "tests", "proofread", "capitalise", "capitalize", "rewrite", "rerun", "reuse", "sugarcoat", "interrupt", "assist",
    "water", "feed", "pretend", "lie", "force-push", "reply-all", "cc", "bcc", "ping", "snooze", "archive", "deduct", "charge", "spend", "sell",
    "lend", "borrow", "drive", "walk", "eat", "drink", "cook", "serve", "heat", "cool", "wash", "iron", "lift", "carry", "deliver", "return", "refund",
    "rent", "hire", "fire", "meet", "visit", "park", "travel", "fly", "sit", "stand", "sing", "dance", "draw", "paint", "shout", "whisper",
    "criticise", "criticize", "praise", "flatter", "joke", "apologise", "apologize", "argue", "promise", "pause", "resume", "retry", "abort", "kill", "spawn",
    "fork", "clone", "mount", "patch", "migrate", "seed", "reset", "flush", "drain", "scale", "monitor", "measure", "benchmark", "profile", "trace",
    "encrypt", "hash", "sanitize", "sanitise", "redact", "mask", "anonymize", "anonymise", "expose", "hardcode", "inline", "extract", "refactor", "simplify", "shorten",
    "expand", "elaborate", "paraphrase", "phrase", "word", "title", "outline", "bold", "underline", "emphasise", "emphasize", "praise", "thank", "wish",
    "count", "calculate", "compute", "estimate", "convert", "interpret", "infer", "rank", "rate", "score", "vote", "decide", "agree", "disagree",
    "consult", "involve", "escalate", "delegate", "notify", "alert", "page", "subscribe", "unsubscribe", "follow", "unfollow", "like", "react", "rely",
    "trust", "doubt", "question", "challenge", "correct", "let", "allow", "permit", "forbid", "deny", "reject", "defer", "delay", "postpone", "confirm", NULL};

/* After "never" at the beginning: something that was or was not done, and no command. */
static words_list participles = {
    "been", "seen", "heard", "thought", "known", "done", "gone", "had", "met", "felt", "found", "have", "has", "did", "was", "were", "is",
    "again", "mind", "before", "a", "the", "an", "in", "on", "to", "too", "enough", "quite", "really", "once", "knew", "saw", "had", "understood",
    "got", "would", "could", "will", "can", "should", "say", "gonna", "better", "say", "fear", "fails", "works", "ending", NULL};

/* Other languages, of which a sentence needs one of each, or one of foreign_names.  Matched anywhere
 * in the lower-case text, since not all have spaces between words. */
static words_list foreign_scopes = {
    "immer", "niemals", "nie wieder", "ab jetzt", "ab sofort", "von nun an", "künftig", "in zukunft", "jedes mal", "jedem",
    "bevor du", "wenn ich", "emojis", "toujours", "jamais", "à partir de maintenant", "désormais", "dorénavant",
    "chaque fois", "quand je", "émojis", "siempre", "nunca", "a partir de ahora", "de ahora en adelante", "cada vez",
    "以后", "从现在起", "永远",
    "每次", "一定要", "表情", "始终",
    "これから", "今後", "必ず", "常に",
    "絶対に", "絵文字", "毎回", NULL};
static words_list foreign_orders = {
    "bitte", "antworte", "benutze", "verwende", "führe", "pushe", "nutze", "schreib", "frag", "nenn", "halte", "gib", "mach ",
    "angeben", "réponds", "ne pousse", "utilise", "n'utilise", "mets", "limite", "évite", "écris", "responde", "no uses",
    "usa ", "no hagas", "nunca hagas", "escribe", "evita", "pon ", "precios en", "请", "不要", "别", "用",
    "要先", "控制", "てください",
    "でください", "ないで", "使って",
    "してく", NULL};
static words_list foreign_names = {
    "nenn mich", "nennt mich", "appelle-moi", "llámame", "叫我", "と呼んで", NULL};
static words_list foreign_against = {
    " ich ", " er ", " sie ", " wir ", "nicht mehr", "heute", "morgen", " je ", " il ", " elle ", " nous ", "n'as plus", "plus besoin",
    "maintenant.", "siempre me", " ella ", "nunca lo", "ya no", "allí", "我们", "他", "不用再",
    "现在运", "もう", "彼", NULL};

#endif
