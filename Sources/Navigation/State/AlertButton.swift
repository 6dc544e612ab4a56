/// A button of an alert.
public struct AlertButton: Codable, Hashable, Sendable {
    /// What the view reports when the button is pressed.
    public var id: String
    /// What the button says.
    public var title: String
    /// The type of the command that pressing it sends, such as `command.PlaylistSelected`; nil when it only closes.
    public var sends: String?

    /// Makes a button.
    public init(id: String, title: String, sends: String? = nil) {
        self.id = id
        self.title = title
        self.sends = sends
    }
}
