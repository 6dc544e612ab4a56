package import EventBus

/// Something to pick on a screen: what it says, and the command that it sends.
package struct ScreenAction: Sendable {
    package let label: String
    package let command: any CommandMessage

    package init(_ label: String, _ command: any CommandMessage) {
        self.label = label
        self.command = command
    }
}

extension ScreenAction {
    /// The type of the command on the wire, as in `command.PlaylistSelected`.
    package var type: MessageType { Swift.type(of: command).type }
}
