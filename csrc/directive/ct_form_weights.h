/* Made by models/make_probe.py: what each mark of ct_form.h says for a directive. */
#ifndef CT_FORM_WEIGHTS_H
#define CT_FORM_WEIGHTS_H

static const struct {
    float with_meaning; /* beside the probe */
    float alone;
} form_weights[] = {
    {1.236f, 0.778f}, /* ALWAYS */
    {1.018f, 1.091f}, /* NEVER */
    {-0.815f, -0.409f}, /* DONT */
    {-1.912f, -2.311f}, /* VERB */
    {-0.092f, 0.426f}, /* STOP */
    {0.317f, 0.303f}, /* ENSURE */
    {-0.223f, -0.030f}, /* PREFER */
    {0.651f, 0.555f}, /* NAME */
    {-0.985f, -1.594f}, /* WANT */
    {-0.599f, -0.846f}, /* MUST */
    {-0.357f, -0.429f}, /* NEEDS */
    {0.434f, 0.664f}, /* ASKS */
    {-0.695f, -0.583f}, /* FRAGMENT */
    {2.022f, 2.383f}, /* FOREIGN */
    {-0.057f, -0.537f}, /* REMINDER */
    {2.807f, 2.914f}, /* SCOPE */
    {3.681f, 3.665f}, /* OCCASION */
    {1.673f, 1.444f}, /* EVERY */
    {-0.064f, 0.299f}, /* CONSTANT */
    {0.762f, 0.328f}, /* PLEASE */
    {-2.894f, -3.250f}, /* ONCE */
    {-0.908f, -1.139f}, /* THIS */
    {-0.139f, -0.496f}, /* THE */
    {-0.134f, 0.258f}, /* FIRST */
    {-0.005f, 0.619f}, /* SECOND */
    {-0.861f, -0.945f}, /* YOUR */
    {0.274f, 0.209f}, /* A */
    {0.663f, 0.705f}, /* PLURAL */
    {1.414f, 1.521f}, /* MANNER */
    {1.263f, 1.673f}, /* OUTPUT */
    {-0.937f, -0.796f}, /* OBJECT_THE */
    {-1.468f, -1.063f}, /* OBJECT_THIS */
    {-1.817f, -1.807f}, /* OBJECT_A */
    {0.299f, 0.207f}, /* OBJECT_ME */
    {0.961f, 1.083f}, /* OBJECT_PLURAL */
    {0.828f, 0.558f}, /* LATER */
    {-0.190f, -0.096f}, /* SHORT */
    {-1.530f, -1.688f}, /* LONG */
};
static const float meaning_weight = 1.775f, meaning_bias = -1.357f, form_bias = -1.641f;

#endif
