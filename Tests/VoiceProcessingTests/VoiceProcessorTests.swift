import Testing

@testable import VoiceProcessing

@Suite struct VoiceProcessorTests {
    @Test func `an unknown rate is refused`() {
        #expect(throws: VoiceProcessingError.unsupportedRate(hertz: 44_100)) { try VoiceProcessor(sampleRate: 44_100) }
    }
}
