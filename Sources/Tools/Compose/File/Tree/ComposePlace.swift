/// Where something stands.
struct ComposePlace: Sendable, Hashable {
    let file: String
    /// Counted from 1.
    let line: Int
}
