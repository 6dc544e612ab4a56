/// A button of an alert or a dialog.
public struct AlertButton: Codable, Hashable, Sendable {
    /// What a button is for, beyond what it says; views show these in a way of their own.
    public enum Role: String, Codable, Hashable, Sendable, CaseIterable {
        /// Leaves everything as it is.
        case cancel
        /// Destroys something.
        case destructive
    }

    /// What the view reports when the button is pressed.
    public var id: String
    /// What the button says.
    public var title: String
    /// What it is for; nil for nothing in particular.
    public var role: Role?
    /// The type of the command that pressing it sends, such as `command.PlaylistSelected`; nil when it only closes.
    public var sends: String?

    /// Makes a button.
    public init(id: String, title: String, role: Role? = nil, sends: String? = nil) {
        self.id = id
        self.title = title
        self.role = role
        self.sends = sends
    }
}
