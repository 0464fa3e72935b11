// SPDX-License-Identifier: Apache-2.0

import TestTraits
import Testing
import UnitMeasures

@Suite(.optimized) struct DynamicsFigureTests {
    @Test func `the compressor keeps to its curve and times`() {
        for figure in compressorFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `the limiter keeps true peaks below its ceiling`() {
        for figure in limiterFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `loudness is what libebur128 says`() {
        for figure in loudnessFigures() { #expect(figure.isMet, "\(figure)") }
    }
}
