package import Support

/// A value in the description of a flow, a scenario or an action, with its position in the file.
package struct FlowNode: Sendable {
    package enum Content: Sendable {
        case scalar(Scalar)
        case sequence([FlowNode])
        /// The members, in the order of the file.
        case mapping([Member])
        /// A YAML alias, which the parser has not resolved.
        case alias
    }

    package typealias Member = (key: FlowNode, value: FlowNode)

    /// A single value and its text in the file.
    package struct Scalar: Sendable {
        package let text: String
        package let value: JSONValue

        package init(_ text: String, _ value: JSONValue) {
            self.text = text
            self.value = value
        }
    }

    /// A position in a file. Lines and columns count from 1.
    package struct Mark: Sendable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    package let content: Content
    /// The position of the node. Nil if it was not read from a file.
    package let mark: Mark?

    package init(_ content: Content, at mark: Mark? = nil) {
        self.content = content
        self.mark = mark
    }

    /// Creates the node of a JSON value, with the members of objects sorted by name.
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

    /// The members of a mapping. Nil for any other node.
    package var mapping: [Member]? {
        if case .mapping(let members) = content { members } else { nil }
    }
}
