internal import Yams

/// Which messages an app has, and which fields they carry: what a flow cannot know of itself, so that a review may find a
/// message or field that there is not.
///
/// Its file is a mapping of types to the names of their fields:
///
///     command.ItemSelected: [itemID]
///     event.LaunchFinished: []
public struct MessageCatalogue: Hashable, Sendable {
    /// The fields of each message, by type.
    public let fields: [String: Set<String>]

    /// Lists messages with their fields.
    public init(_ fields: [String: Set<String>]) {
        self.fields = fields
    }

    /// Reads a catalogue.
    ///
    /// - Parameters:
    ///   - yaml: The text of the file.
    ///   - file: The name of the file as findings shall call it.
    /// - Throws: ``FlowError`` with everything that is wrong.
    public init(yaml: String, file: String) throws(FlowError) {
        var reader = YAMLReader(file: file)
        let fields = reader.document(yaml, "list messages in it").map { reader.catalogue($0) }
        guard let fields, reader.findings.isEmpty else { throw FlowError(findings: reader.findings) }
        self.init(fields)
    }
}

extension YAMLReader {
    fileprivate mutating func catalogue(_ node: Node) -> [String: Set<String>] {
        guard case .mapping(let mapping) = node else {
            report("a catalogue is a mapping of messages' types to lists of their fields", at: node)
            return [:]
        }
        var fields: [String: Set<String>] = [:]
        for (key, value) in mapping {
            guard let type = string(key, "a message's type") else { continue }
            guard case .sequence(let elements) = value else {
                report("'\(type)' needs a list of its fields, which may be empty: []", at: value)
                continue
            }
            fields[type] = Set(elements.compactMap { string($0, "a field's name") })
        }
        return fields
    }
}
