package import EventBus

/// A change of a contract, and whether it breaks those who keep to the former one.
package struct ContractFinding: Hashable, Sendable, CustomStringConvertible {
    package let type: MessageType
    /// Where in the message, as in `data.songs[].title`; nil for the message itself.
    package let path: String?
    package let isBreaking: Bool
    /// What has changed, who is concerned, and what to do.
    package let message: String

    package var description: String { "\(type): \(path.map { "\($0): " } ?? "")\(message)" }
}
