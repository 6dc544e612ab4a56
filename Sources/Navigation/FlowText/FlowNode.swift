package import Support

/// A value of a document that describes a flow or an action, with the place in its file that it was read from.
///
/// The reader of flows works on these, so that it knows neither YAML nor a parser of it.
package struct FlowNode: Sendable {
    package enum Content: Sendable {
        case scalar(Scalar)
        case sequence([FlowNode])
        /// The members, in the order of the document; no two have the same key.
        case mapping([Member])
        /// A reference to another node, which the parser has left as it is.
        case alias
    }

    package typealias Member = (key: FlowNode, value: FlowNode)

    /// A single value, and its text as it was written.
    package struct Scalar: Sendable {
        package let text: String
        package let value: JSONValue

        package init(_ text: String, _ value: JSONValue) {
            self.text = text
            self.value = value
        }
    }

    /// A place in a file; lines and columns count from 1.
    package struct Mark: Sendable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    package let content: Content
    /// nil for a node that no file holds.
    package let mark: Mark?

    package init(_ content: Content, at mark: Mark? = nil) {
        self.content = content
        self.mark = mark
    }

    /// A node that reads as this value, with the members of objects in the order of their names.
    package init(_ json: JSONValue) {
        switch json {
        case .string(let text): self.init(.scalar(Scalar(text, json)))
        case .number(let number):
            self.init(.scalar(Scalar(json.description, Int(exactly: number).map { .integer($0) } ?? json)))
        case .null, .bool, .integer: self.init(.scalar(Scalar(json.description, json)))
        case .array(let elements): self.init(.sequence(elements.map { FlowNode($0) }))
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            self.init(.mapping(sorted.map { (FlowNode(.string($0.key)), FlowNode($0.value)) }))
        }
    }

    /// The members of a mapping; nil for any other node.
    package var mapping: [Member]? {
        if case .mapping(let members) = content { members } else { nil }
    }
}
