/// What a view model shows data with.
public protocol Dispatching: Sendable {
    /// Asks for this data to be shown, in the way that its type says.
    /// - Throws: what keeps it from being sent. Whether it is shown is seen in the state.
    func dispatch<Data: Dispatchable>(_ data: Data) async throws
}
