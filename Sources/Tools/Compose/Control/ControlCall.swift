/// What goes over the control socket, as one JSON object that the end of the stream follows.
struct ControlCall: Sendable, Codable {
    let request: ControlRequest
    /// Whether to tell only what would be done.
    let isRehearsal: Bool
}
