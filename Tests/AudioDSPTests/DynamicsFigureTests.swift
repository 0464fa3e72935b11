// SPDX-License-Identifier: Apache-2.0

import TestTraits
import Testing
import UnitMeasures

@Suite(.optimized) struct DynamicsFigureTests {
    @Test func `the compressor follows its curve and time constants`() {
        for figure in compressorFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `the limiter keeps true peaks below its ceiling`() {
        for figure in limiterFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `loudness matches libebur128`() {
        for figure in loudnessFigures() { #expect(figure.isMet, "\(figure)") }
    }
}
