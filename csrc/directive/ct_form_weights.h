/* Made by models/make_probe.py: what each mark of ct_form.h says for a directive. */
#ifndef CT_FORM_WEIGHTS_H
#define CT_FORM_WEIGHTS_H

static const struct {
    float with_meaning; /* beside the probe */
    float alone;
} form_weights[] = {
    {0.617f, 0.328f}, /* ALWAYS */
    {1.051f, 1.260f}, /* NEVER */
    {-0.543f, -0.352f}, /* DONT */
    {-1.670f, -2.165f}, /* VERB */
    {-0.139f, 0.430f}, /* STOP */
    {0.347f, 0.323f}, /* ENSURE */
    {0.172f, 0.099f}, /* PREFER */
    {0.719f, 0.626f}, /* NAME */
    {-1.166f, -1.596f}, /* WANT */
    {-0.631f, -0.972f}, /* MUST */
    {-0.412f, -0.430f}, /* NEEDS */
    {0.460f, 0.612f}, /* ASKS */
    {-0.823f, -0.578f}, /* FRAGMENT */
    {2.017f, 2.415f}, /* FOREIGN */
    {-0.087f, -0.552f}, /* REMINDER */
    {2.697f, 2.900f}, /* SCOPE */
    {3.299f, 3.465f}, /* OCCASION */
    {1.664f, 1.434f}, /* EVERY */
    {-0.082f, 0.423f}, /* CONSTANT */
    {0.911f, 0.428f}, /* PLEASE */
    {-2.802f, -3.215f}, /* ONCE */
    {-0.830f, -1.207f}, /* THIS */
    {-0.091f, -0.455f}, /* THE */
    {-0.094f, 0.182f}, /* FIRST */
    {0.282f, 0.786f}, /* SECOND */
    {-0.899f, -0.910f}, /* YOUR */
    {0.398f, 0.249f}, /* A */
    {0.810f, 0.710f}, /* PLURAL */
    {1.104f, 1.359f}, /* MANNER */
    {1.254f, 1.690f}, /* OUTPUT */
    {-0.958f, -0.776f}, /* OBJECT_THE */
    {-1.244f, -0.789f}, /* OBJECT_THIS */
    {-2.021f, -1.871f}, /* OBJECT_A */
    {0.308f, 0.231f}, /* OBJECT_ME */
    {0.988f, 1.103f}, /* OBJECT_PLURAL */
    {0.729f, 0.568f}, /* LATER */
    {-0.001f, -0.095f}, /* SHORT */
    {-1.472f, -1.681f}, /* LONG */
};
static const float meaning_weight = 1.545f, meaning_bias = -1.611f, form_bias = -1.969f;

#endif
