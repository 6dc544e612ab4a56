/// A screen that is dismissed, but that a view may still show.
struct LeavingScreen: Hashable, Sendable {
    let session: String
    let instance: String
}
