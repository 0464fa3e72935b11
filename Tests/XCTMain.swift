import Testing

/// Starts the tests of a build without an index, in which SwiftPM cannot look for XCTest's: there are none.
@main struct TestProgram {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
