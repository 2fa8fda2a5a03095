/* Made by models/make_probe.py: what each mark of ct_form.h says for a directive. */
#ifndef CT_FORM_WEIGHTS_H
#define CT_FORM_WEIGHTS_H

static const struct {
    float with_meaning; /* beside the probe */
    float alone;
} form_weights[] = {
    {0.525f, 0.178f}, /* ALWAYS */
    {0.537f, 0.894f}, /* NEVER */
    {-0.446f, -0.030f}, /* DONT */
    {-2.353f, -2.720f}, /* VERB */
    {0.046f, 0.190f}, /* STOP */
    {-0.701f, -0.927f}, /* ENSURE */
    {0.369f, 0.219f}, /* PREFER */
    {0.074f, 0.147f}, /* NAME */
    {0.143f, 0.177f}, /* WANT */
    {-0.662f, -0.771f}, /* MUST */
    {0.391f, 0.319f}, /* NEEDS */
    {0.479f, 0.342f}, /* ASKS */
    {-0.014f, -0.314f}, /* FRAGMENT */
    {1.612f, 2.297f}, /* FOREIGN */
    {-1.052f, -1.245f}, /* REMINDER */
    {2.086f, 2.188f}, /* SCOPE */
    {3.636f, 3.818f}, /* OCCASION */
    {1.185f, 0.606f}, /* EVERY */
    {1.016f, 1.063f}, /* CONSTANT */
    {0.572f, 0.340f}, /* PLEASE */
    {-1.731f, -2.395f}, /* ONCE */
    {-1.142f, -1.216f}, /* THIS */
    {-0.578f, -0.576f}, /* THE */
    {0.165f, 0.632f}, /* FIRST */
    {0.674f, 1.117f}, /* SECOND */
    {-1.086f, -0.754f}, /* YOUR */
    {-0.488f, -0.631f}, /* A */
    {0.866f, 0.195f}, /* PLURAL */
    {2.148f, 2.130f}, /* MANNER */
    {0.875f, 1.661f}, /* OUTPUT */
    {0.377f, -0.037f}, /* LATER */
    {0.559f, 0.211f}, /* SHORT */
    {-0.593f, -1.018f}, /* LONG */
};
static const float meaning_weight = 1.475f, meaning_bias = -1.582f, form_bias = -1.518f;

#endif
