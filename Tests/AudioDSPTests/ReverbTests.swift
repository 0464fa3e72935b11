import AudioDSP
import Testing
import UnitMeasures

@Suite struct ReverbFigureTests {
    @Test func `Each octave decays as set`() {
        for figure in reverbDecayFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `Echoes are dense within a tenth of a second`() {
        for figure in reverbDensityFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `No mode rings`() {
        for figure in reverbModeFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `Every tail ends in zeros`() {
        for figure in reverbEndFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `No parameter clicks`() {
        for figure in reverbClickFigures() { #expect(figure.isMet, "\(figure)") }
    }
}
