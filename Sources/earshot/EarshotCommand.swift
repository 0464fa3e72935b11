import ArgumentParser

@main
struct EarshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "earshot",
        abstract: "Talk and sing with people near you, live, over the network you share.",
        discussion: """
            Two machines on one network: `earshot host --insecure-lan` on one, `earshot join ADDRESS` on the other.
            Without sound hardware: `--device simulated --speak FILE --hear FILE`.
            """,
        version: CallReport.version,
        subcommands: [HostCommand.self, JoinCommand.self, AnalyzeCommand.self])
}
