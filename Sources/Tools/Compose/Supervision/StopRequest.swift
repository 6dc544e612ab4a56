/// What a supervisor has been asked for; it only ever grows.
enum StopRequest: Int, Sendable, Comparable {
    case none
    /// Dependents first, each with its grace.
    case orderly
    /// Without any more grace.
    case immediate

    static func < (a: StopRequest, b: StopRequest) -> Bool { a.rawValue < b.rawValue }
}
