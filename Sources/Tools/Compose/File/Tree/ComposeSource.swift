/// A file of a stack: what mistakes call it, and what its relative paths and its variables refer to.
struct ComposeSource: Sendable {
    let name: String
    /// Where its relative paths start.
    let directory: ComposePath
    let environment: ComposeEnvironment
}
