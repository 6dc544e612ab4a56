/// What becomes of a call.
enum RouterAnswer: Sendable {
    /// The state has this revision now.
    case done(Int)
    /// It was not acted upon, for this reason.
    case discarded(String)
}
