import AudioBase
import AudioDSP

/// Places sources around a listener, for headphones (`AVAudioEnvironmentNode`, the 3D mixer).
///
/// Each input is a mono source (more channels are averaged) with a position in metres; the listener has a position and a
/// direction. The output is stereo.
public final class AudioEnvironmentNode: AudioNode, @unchecked Sendable {
    private let scene = Guarded(Scene())
    private var held: [Int: Source] = [:]  // under the engine's lock

    private struct Scene {
        var listener = ListenerGeometry()
        var sources: [Int: (position: SpatialVector, store: ParameterStore)] = [:]
    }
    private struct Source {
        var rate: Double
        var memory: RenderMemory<EnvironmentSource>
    }

    /// A listener at the origin who looks along −z.
    public init(name: String = "environment") { super.init(name: name) }
}
