/// Why something could not be measured.
package struct BenchmarkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line: what is wrong, and what to do.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
