/* Made by models/make_probe.py: what each mark of ct_form.h says for a directive. */
#ifndef CT_FORM_WEIGHTS_H
#define CT_FORM_WEIGHTS_H

static const struct {
    float with_meaning; /* beside the probe */
    float alone;
} form_weights[] = {
    {0.238f, 0.242f}, /* ALWAYS */
    {0.532f, 0.848f}, /* NEVER */
    {-0.207f, -0.268f}, /* DONT */
    {-2.361f, -2.378f}, /* VERB */
    {0.370f, 0.120f}, /* STOP */
    {-0.861f, -1.081f}, /* ENSURE */
    {0.249f, 0.255f}, /* PREFER */
    {0.051f, 0.066f}, /* NAME */
    {0.081f, 0.077f}, /* WANT */
    {-0.385f, -0.482f}, /* MUST */
    {0.366f, 0.230f}, /* NEEDS */
    {0.237f, 0.257f}, /* ASKS */
    {0.388f, 0.450f}, /* FRAGMENT */
    {1.303f, 1.664f}, /* FOREIGN */
    {-1.209f, -1.234f}, /* REMINDER */
    {1.682f, 1.506f}, /* SCOPE */
    {2.753f, 2.648f}, /* OCCASION */
    {1.651f, 1.452f}, /* EVERY */
    {0.418f, 0.614f}, /* CONSTANT */
    {0.473f, 0.390f}, /* PLEASE */
    {-1.349f, -1.389f}, /* ONCE */
    {-1.630f, -1.754f}, /* THIS */
    {-1.065f, -1.354f}, /* THE */
    {0.108f, 0.606f}, /* FIRST */
    {0.700f, 0.896f}, /* SECOND */
    {-1.394f, -1.177f}, /* YOUR */
    {-0.773f, -0.915f}, /* A */
    {0.920f, 0.864f}, /* PLURAL */
    {1.790f, 1.885f}, /* MANNER */
    {0.771f, 1.004f}, /* OUTPUT */
    {1.129f, 1.157f}, /* LATER */
    {0.541f, 0.536f}, /* SHORT */
    {0.000f, 0.000f}, /* LONG */
};
static const float meaning_weight = 1.052f, meaning_bias = -1.044f, form_bias = 0.045f;

#endif
