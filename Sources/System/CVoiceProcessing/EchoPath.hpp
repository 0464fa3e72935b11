// SPDX-License-Identifier: Apache-2.0
// The linear part of the echo, subtracted before the library sees the microphone: the library's own filter takes 8 to
// 20 dB of it and leaves the rest to a suppressor that takes the near talker along.
//
// A partitioned-block frequency-domain Kalman filter: G. Enzner and P. Vary, "Frequency-domain adaptive Kalman filter for
// acoustic echo control in hands-free telephones", Signal Processing 86 (2006), pp. 1140-1156; in partitions: F. Kuech,
// E. Mabande, G. Enzner, "State-space architecture of the partitioned-block-based acoustic echo controller", ICASSP 2014.
// Its step follows from the path's uncertainty and the power of what is no echo, so that it holds in double talk.
#pragma once
#include <vector>

class EchoPath {
public:
    /// Frames of `hop` samples; the path is modelled over `partitions` of them. The share `left` of the estimated echo stays.
    EchoPath(int hop, int partitions, float left);

    /// Subtracts the estimated echo of `reference` from `microphone`; without delay. `cleaned` may be `microphone`.
    void process(const float *microphone, const float *reference, float *cleaned);

    /// Where the path has its largest tap, in samples; -1 before it is known.
    int peak();

private:
    using Row = std::vector<float>;

    void transform(bool inverse);
    void load(const float *re, const float *im);
    void estimate();
    void update();
    void constrain(int partition);
    void restart();
    int slot(int partition) const { return (newest + partition) % partitions * bins; }

    float left;
    int hop, size = 1, bins, partitions, newest = 0, turn = 0;
    double microphonePower = 0, errorPower = 0;
    Row cosines, sines;
    std::vector<int> reversed;
    Row far;                     // the newest `size` samples of the reference
    Row farRe, farIm, farPower;  // its spectra: a row of bins for each partition, a ring
    Row pathRe, pathIm;          // the path's: a row of bins for each partition
    Row uncertainty;             // likewise: variance of the path's estimate
    Row farMean;                 // of the reference's power, by bin
    Row disturbance;             // power of what is no echo, by bin
    Row total;                   // power of the error that is expected, by bin
    Row re, im;                  // what is being transformed
};
