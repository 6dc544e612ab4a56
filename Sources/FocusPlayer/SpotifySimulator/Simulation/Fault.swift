/// Trouble that the control page has ordered for the next requests.
struct Fault: Codable, Sendable, Equatable {
    /// A request path, or the beginning of one followed by `*`.
    let path: String
    /// The status to answer with; `nil` lets the request through after the delay.
    let status: Int?
    /// For the header of the same name, in seconds.
    let retryAfter: Int?
    /// How long to sit on the request first.
    let delayInMilliseconds: Int
    /// How many more requests it strikes.
    var remaining: Int

    /// Whether the fault strikes a request for the path. A trailing slash makes no difference, as in the routes.
    func strikes(_ requested: String) -> Bool {
        if path.hasSuffix("*") { return requested.hasPrefix(path.dropLast()) }
        return Self.normalized(path) == Self.normalized(requested)
    }

    private static func normalized(_ path: String) -> Substring {
        path.hasSuffix("/") ? path.dropLast() : Substring(path)
    }
}
