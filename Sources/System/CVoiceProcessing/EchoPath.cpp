// SPDX-License-Identifier: Apache-2.0
#include "EchoPath.hpp"

#include <algorithm>
#include <cmath>

namespace {

constexpr float kKept = 0.9998f * 0.9998f;   // of the path's power, from frame to frame
constexpr float kSmoothing = 0.5f;     // of the disturbance's power
constexpr float kFarMean = 0.99f;
constexpr float kHeard = 1e-5f;  // of the reference's loudest bin
constexpr float kFirstUncertainty = 0.01f;
constexpr float kLeast = 1e-9f;
constexpr int kConstrainedAtOnce = 4;
constexpr double kHarm = 4;  // power of the output over that of the input at which the path is forgotten

}  // namespace

EchoPath::EchoPath(int hop, int partitions, float left) : left(left), hop(hop), partitions(partitions) {
    int bits = 0;
    while (size < 2 * hop) size *= 2, ++bits;
    bins = size / 2 + 1;
    for (int i = 0; i < size; ++i) {
        int r = 0;
        for (int b = 0; b < bits; ++b) r |= ((i >> b) & 1) << (bits - 1 - b);
        reversed.push_back(r);
    }
    // The tables of all passes, one after the other, so that each pass reads its own in sequence.
    for (int half = 1; half < size; half *= 2) {
        for (int k = 0; k < half; ++k) {
            cosines.push_back(float(std::cos(M_PI * k / half)));
            sines.push_back(float(-std::sin(M_PI * k / half)));
        }
    }
    const size_t all = size_t(partitions) * bins;
    for (Row *row : {&farRe, &farIm, &farPower, &pathRe, &pathIm, &uncertainty}) row->assign(all, 0);
    for (Row *row : {&disturbance, &total, &farMean}) row->assign(bins, 0);
    for (Row *row : {&far, &re, &im}) row->assign(size, 0);
    restart();
}

void EchoPath::restart() {
    std::fill(pathRe.begin(), pathRe.end(), 0.0f);
    std::fill(pathIm.begin(), pathIm.end(), 0.0f);
    std::fill(uncertainty.begin(), uncertainty.end(), kFirstUncertainty);
}

/// Transforms `re` and `im` in place by a radix-2 FFT.
void EchoPath::transform(bool inverse) {
    for (int i = 0; i < size; ++i) {
        const int j = reversed[i];
        if (j > i) std::swap(re[i], re[j]), std::swap(im[i], im[j]);
    }
    const float sign = inverse ? -1.0f : 1.0f;
    for (int half = 1; half < size; half *= 2) {
        const float *c = cosines.data() + half - 1, *s = sines.data() + half - 1;
        for (int start = 0; start < size; start += 2 * half) {
            float *__restrict ar = re.data() + start, *__restrict ai = im.data() + start;
            float *__restrict br = ar + half, *__restrict bi = ai + half;
            for (int k = 0; k < half; ++k) {
                const float wi = sign * s[k];
                const float tr = br[k] * c[k] - bi[k] * wi, ti = br[k] * wi + bi[k] * c[k];
                br[k] = ar[k] - tr;
                bi[k] = ai[k] - ti;
                ar[k] += tr;
                ai[k] += ti;
            }
        }
    }
    if (!inverse) return;
    const float scale = 1.0f / float(size);
    for (int i = 0; i < size; ++i) re[i] *= scale;  // what is inverted is real
}

/// The input is half a spectrum of a real signal.
void EchoPath::load(const float *fromRe, const float *fromIm) {
    std::copy(fromRe, fromRe + bins, re.begin());
    std::copy(fromIm, fromIm + bins, im.begin());
    for (int k = 1; k < size / 2; ++k) {
        re[size - k] = re[k];
        im[size - k] = -im[k];
    }
}

void EchoPath::process(const float *microphone, const float *reference, float *cleaned) {
    std::copy(far.begin() + hop, far.end(), far.begin());
    std::copy(reference, reference + hop, far.end() - hop);
    std::copy(far.begin(), far.end(), re.begin());
    std::fill(im.begin(), im.end(), 0.0f);
    transform(false);
    newest = (newest + partitions - 1) % partitions;
    for (int k = 0; k < bins; ++k) {
        farRe[slot(0) + k] = re[k];
        farIm[slot(0) + k] = im[k];
        farPower[slot(0) + k] = re[k] * re[k] + im[k] * im[k];
        farMean[k] = kFarMean * farMean[k] + (1 - kFarMean) * farPower[slot(0) + k];
    }
    estimate();
    double m = 0, e = 0;
    for (int i = 0; i < hop; ++i) {
        const float echo = re[size - hop + i], error = microphone[i] - echo;
        m += double(microphone[i]) * microphone[i];
        e += double(error) * error;
        re[size - hop + i] = error;
        cleaned[i] = error + left * echo;
    }
    microphonePower = 0.9 * microphonePower + 0.1 * m;
    errorPower = 0.9 * errorPower + 0.1 * e;
    if (!(errorPower <= kHarm * microphonePower)) {
        restart();
        errorPower = microphonePower;
        return;
    }
    std::fill(re.begin(), re.end() - hop, 0.0f);
    std::fill(im.begin(), im.end(), 0.0f);
    transform(false);
    update();
    for (int i = 0; i < kConstrainedAtOnce; ++i) {
        constrain(turn);
        turn = (turn + 1) % partitions;
    }
}

/// Computes the echo by overlap-save: the last `hop` samples of `re`.
void EchoPath::estimate() {
    Row &sumRe = re, &sumIm = im;
    std::fill(sumRe.begin(), sumRe.begin() + bins, 0.0f);
    std::fill(sumIm.begin(), sumIm.begin() + bins, 0.0f);
    for (int p = 0; p < partitions; ++p) {
        const float *xr = &farRe[slot(p)], *xi = &farIm[slot(p)], *wr = &pathRe[p * bins], *wi = &pathIm[p * bins];
        float *__restrict yr = sumRe.data(), *__restrict yi = sumIm.data();
        for (int k = 0; k < bins; ++k) {
            yr[k] += xr[k] * wr[k] - xi[k] * wi[k];
            yi[k] += xr[k] * wi[k] + xi[k] * wr[k];
        }
    }
    for (int k = 1; k < size / 2; ++k) {
        re[size - k] = re[k];
        im[size - k] = -im[k];
    }
    transform(true);
}

/// Updates the filter by the equations of Kuech et al. for a diagonalised filter, with the error's spectrum in `re` and `im`.
void EchoPath::update() {
    const float share = float(hop) / float(size);
    for (int k = 0; k < bins; ++k) {
        const float power = re[k] * re[k] + im[k] * im[k];
        disturbance[k] = kSmoothing * disturbance[k] + (1 - kSmoothing) * power;
        total[k] = disturbance[k] + kLeast;
    }
    for (int p = 0; p < partitions; ++p) {
        const float *power = &farPower[slot(p)], *u = &uncertainty[p * bins];
        float *__restrict t = total.data();
        for (int k = 0; k < bins; ++k) t[k] += share * power[k] * u[k];
    }
    for (int k = 0; k < bins; ++k) total[k] = 1 / total[k];
    for (int p = 0; p < partitions; ++p) {
        const float *xr = &farRe[slot(p)], *xi = &farIm[slot(p)], *power = &farPower[slot(p)];
        const float *er = re.data(), *ei = im.data(), *t = total.data();
        float *__restrict wr = &pathRe[p * bins], *__restrict wi = &pathIm[p * bins];
        float *__restrict u = &uncertainty[p * bins];
        for (int k = 0; k < bins; ++k) {
            const float step = u[k] * t[k];
            wr[k] += step * (xr[k] * er[k] + xi[k] * ei[k]);
            wi[k] += step * (xr[k] * ei[k] - xi[k] * er[k]);
            const float left = u[k] - share * step * power[k] * u[k];
            u[k] = kKept * left + (1 - kKept) * (wr[k] * wr[k] + wi[k] * wi[k]);
        }
    }
}

/// Only `hop` taps of a partition do not wrap around; the others are cleared, in a few partitions per frame.
void EchoPath::constrain(int partition) {
    load(&pathRe[partition * bins], &pathIm[partition * bins]);
    transform(true);
    std::fill(re.begin() + hop, re.end(), 0.0f);
    std::fill(im.begin(), im.end(), 0.0f);
    transform(false);
    std::copy(re.begin(), re.begin() + bins, &pathRe[partition * bins]);
    std::copy(im.begin(), im.begin() + bins, &pathIm[partition * bins]);
}

/// Only bins where the reference has sound, since the path is undefined in the others.
int EchoPath::peak() {
    const float heard = kHeard * *std::max_element(farMean.begin(), farMean.end());
    int loudest = 0;
    float most = 0;
    for (int p = 0; p < partitions; ++p) {
        float sum = 0;
        for (int k = 0; k < bins; ++k) {
            const float r = pathRe[p * bins + k], i = pathIm[p * bins + k];
            if (farMean[k] > heard) sum += r * r + i * i;
        }
        if (sum > most) most = sum, loudest = p;
    }
    if (most <= 0) return -1;
    for (int k = 0; k < bins; ++k) {
        const float weight = farMean[k] > heard ? 1 : 0;
        total[k] = weight * pathRe[loudest * bins + k];
        re[k] = weight * pathIm[loudest * bins + k];
    }
    const Row imaginary(re.begin(), re.begin() + bins);
    load(total.data(), imaginary.data());
    transform(true);
    int place = 0;
    for (int i = 1; i < hop; ++i)
        if (std::abs(re[i]) > std::abs(re[place])) place = i;
    return loudest * hop + place;
}
