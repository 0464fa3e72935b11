import Testing

@testable import TOMLReader

@Suite struct TOMLValueTests {
    @Test func `a document is read`() throws {
        _ = try TOMLValue(parsing: Array("a = 1".utf8))
    }
}
