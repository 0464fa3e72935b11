// SPDX-License-Identifier: Apache-2.0
// libopus. Its ctl functions are variadic; decoding is declared again with @_noLocks, since it uses only its own state and the
// stack.
#pragma once
#include <opus/opus.h>
#include <opus/opus_custom.h>
#include <stdio.h>
#include <string.h>
#define EARSHOT_NO_LOCKS __attribute__((swift_attr("@_noLocks")))

static inline int earshot_opus_set_bitrate(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_BITRATE(v)); }
static inline int earshot_opus_set_complexity(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_COMPLEXITY(v)); }
static inline int earshot_opus_set_fec(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_INBAND_FEC(v)); }
static inline int earshot_opus_set_loss(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC(v)); }
static inline int earshot_opus_set_prediction_off(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_PREDICTION_DISABLED(v)); }
static inline int earshot_opus_set_vbr(OpusEncoder *e, opus_int32 v) { return opus_encoder_ctl(e, OPUS_SET_VBR(v)); }
static inline int earshot_opus_get_lookahead(OpusEncoder *e, opus_int32 *v) { return opus_encoder_ctl(e, OPUS_GET_LOOKAHEAD(v)); }
static inline int earshot_opus_reset_encoder(OpusEncoder *e) { return opus_encoder_ctl(e, OPUS_RESET_STATE); }
static inline EARSHOT_NO_LOCKS int earshot_opus_reset_decoder(OpusDecoder *d) { return opus_decoder_ctl(d, OPUS_RESET_STATE); }
static inline int earshot_opus_set_gain(OpusDecoder *d, opus_int32 v) { return opus_decoder_ctl(d, OPUS_SET_GAIN(v)); }
static inline EARSHOT_NO_LOCKS int earshot_opus_decode(
    OpusDecoder *d, const unsigned char *data, opus_int32 bytes, float *pcm, int frames) {
    return opus_decode_float(d, data, bytes, pcm, frames, 0);
}
static inline EARSHOT_NO_LOCKS int earshot_opus_decode_fec(
    OpusDecoder *d, const unsigned char *data, opus_int32 bytes, float *pcm, int frames) {
    return opus_decode_float(d, data, bytes, pcm, frames, 1);
}
// A decoder is one block of memory without pointers to itself.
static inline EARSHOT_NO_LOCKS void earshot_opus_copy_decoder(void *to, const void *from, int bytes) { memcpy(to, from, bytes); }
static inline EARSHOT_NO_LOCKS int earshot_opus_frames(const unsigned char *data, opus_int32 bytes, opus_int32 rate) {
    return opus_packet_get_nb_samples(data, bytes, rate);
}

static inline int earshot_opus_custom_set_complexity(OpusCustomEncoder *e, opus_int32 v) { return opus_custom_encoder_ctl(e, OPUS_SET_COMPLEXITY(v)); }
static inline int earshot_opus_custom_set_loss(OpusCustomEncoder *e, opus_int32 v) { return opus_custom_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC(v)); }
static inline int earshot_opus_custom_reset_encoder(OpusCustomEncoder *e) { return opus_custom_encoder_ctl(e, OPUS_RESET_STATE); }
static inline EARSHOT_NO_LOCKS int earshot_opus_custom_reset_decoder(OpusCustomDecoder *d) { return opus_custom_decoder_ctl(d, OPUS_RESET_STATE); }
// Since 1.5, as built in Debian 13, libopus dereferences NULL when a decoder of a custom mode conceals a frame.
static inline int earshot_opus_custom_conceals(void) {
    int major = 0, minor = 0;
    return sscanf(opus_get_version_string(), "libopus %d.%d", &major, &minor) == 2 && major == 1 && minor < 5;
}
static inline EARSHOT_NO_LOCKS int earshot_opus_custom_decode(
    OpusCustomDecoder *d, const unsigned char *data, int bytes, float *pcm, int frames) {
    return opus_custom_decode_float(d, data, bytes, pcm, frames);
}
