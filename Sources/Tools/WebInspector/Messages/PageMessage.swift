internal import EventBus
internal import Foundation
internal import Support
internal import WebPage

/// A message that a person has written on the page.
struct PageMessage: Sendable {
    let type: MessageType
    /// True if the message is published only if it matches the contracts of the services.
    let isChecked: Bool
    private let subject: String
    private let key: String?
    private let origin: Origin
    private let data: Data

    /// - Throws: ``RequestError`` that names the member that is missing or not valid.
    init(_ json: JSONText) throws(RequestError) {
        guard let type = json["type"]?.stringValue.flatMap({ MessageType($0) }), type.kind != .query else {
            throw .malformed("'type' has to be a type such as command.PlaylistSelected, and not a query")
        }
        let data = json["data"]
        guard data?.isObject != false else { throw .malformed("'data' is not a JSON object") }
        self.type = type
        // As the page has written it.
        self.data = data.map { Data($0.utf8) } ?? Data("{}".utf8)
        subject = json["session"]?.stringValue ?? Session.default
        key = type.kind == .document ? json["key"]?.stringValue : nil
        origin = Origin(
            platform: json["platform"]?.stringValue, device: json["device"]?.stringValue,
            instance: json["instance"]?.stringValue)
        isChecked = json["check"]?.description != "false"
    }

    /// The message. A command from a device expires, like those that the device itself sends.
    func envelope(source: String) -> Envelope {
        var attributes = Attributes(type: type, source: source, subject: subject)
        (attributes.platform, attributes.device, attributes.instance) =
            (origin.platform, origin.device, origin.instance)
        attributes.key = key
        attributes.expireAsUsual()
        return Envelope(attributes: attributes, data: data)
    }
}
