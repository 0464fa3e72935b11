// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioFiles

/// The state of an ``AudioEngine``, guarded by the engine's lock.
struct EngineState: ~Copyable {
    var graph: Graph
    /// The graph of the program that was posted last; nil while the engine is stopped.
    var rendering: ResolvedGraph?
    var format: EngineFormat?
    var compiler: GraphCompiler?
    var executor: RenderExecutor?
    var isDirty = false
    /// Detached nodes, whose memory may be freed once no program uses it.
    var leaving: [AudioNode] = []
    var mode = Mode.stopped
    var device: (any AudioDevice)?
    var thread: ServiceThread?
    /// The error of the last change; nil if it could be compiled. After an error the previous graph is still heard.
    var failure: AudioEngineError?

    enum Mode: Equatable {
        case stopped
        case running
        case paused
        case manual(maximumFrameCount: Int)
    }

    init(graph: Graph) { self.graph = graph }

    /// Applies an edit completely, or throws without any change.
    mutating func accept(_ edit: borrowing AudioEngine.Edit) throws(AudioEngineError) {
        if let format { _ = try ResolvedGraph(edit.graph, engine: format, isStrict: false) }
        graph = edit.graph
        leaving += edit.detached
        if rendering == nil { dropLeaving() }
        isDirty = true
    }

    /// Compiles the graph when the engine starts or resumes. Call it only while no thread renders.
    mutating func prepare(_ format: EngineFormat) throws(AudioEngineError) {
        let resolved = try ResolvedGraph(graph, engine: format, isStrict: true)
        if self.format != format || executor == nil { forget() }
        var compiler = compiler ?? GraphCompiler(engine: format)
        let plan = RenderPlan(final: try compiler.program(resolved))
        compiler.prune(to: resolved)
        self.compiler = compiler
        self.format = format
        rendering = resolved
        isDirty = false
        executor?.settle()
        executor?.post(plan)
        executor?.settle()
        dropLeaving()
    }

    /// Compiles and posts the edited graph, unless the previous change is still in progress. Returns false if there is nothing to
    /// post and no change in progress.
    mutating func applyEdits() -> Bool {
        guard let executor else { return false }
        executor.collect()
        guard !executor.isBusy else { return true }
        dropLeaving()
        for node in rendering?.order ?? [] where node.takeChange() { isDirty = true }
        guard isDirty else { return false }
        guard var compiler, let format, let rendering else { return true }
        isDirty = false
        // If the next graph cannot be compiled, the nodes get their present states back.
        let restore = rendering.order.map { $0.restoration() }
        do throws(AudioEngineError) {
            let resolved = try ResolvedGraph(graph, engine: format, isStrict: false)
            let plan = try compiler.plan(from: rendering, to: resolved)
            executor.post(plan)
            compiler.prune(to: resolved)
            self.compiler = compiler
            self.rendering = resolved
            failure = nil
        } catch {
            failure = error
            for body in restore { body() }
        }
        return true
    }

    /// Discards the state of detached nodes that have faded out, and releases them for other engines. A node is not released
    /// earlier, because both engines would then render with the same memory.
    mutating func dropLeaving() {
        let used = rendering?.formats ?? [:]
        for node in leaving where used[node.id] == nil {
            node.dropState()
            if graph.nodes[node.id] == nil { node.attachment.withLock { $0 = nil } }
        }
        leaving.removeAll { used[$0.id] == nil || graph.nodes[$0.id] != nil }
    }

    /// Discards the compiled graph and the state of all nodes and taps.
    mutating func forget() {
        for node in graph.nodes.values {
            node.dropState()
            node.tap?.dropState()
        }
        compiler = nil
        rendering = nil
        dropLeaving()
    }
}
