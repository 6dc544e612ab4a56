/// A height at which a sheet rests.
public enum Detent: String, Codable, Hashable, Sendable, CaseIterable {
    /// About half of the screen.
    case medium
    /// Nearly all of the screen.
    case large
}
