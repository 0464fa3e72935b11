import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test that computes for minutes in a debug build, where code is some 190 times as slow.
    ///
    /// Asks how this module is built, which is how the product is built: the tests' own modules are never optimised.
    public static var optimized: Self {
        .enabled(
            if: !_isDebugAssertConfiguration(), "computes: run it by swift test -c release -Xswiftc -enable-testing")
    }
}
