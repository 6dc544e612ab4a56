package import EventBus

/// Some values of each message, with tabs between them; an empty place where there is nothing, so that lines still count
/// messages, and places still name fields.
package struct FieldFormat: MessageFormat {
    private let fields: [MessagePath]

    package init(_ fields: [MessagePath]) {
        self.fields = fields
    }

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        let values = MessageValues(message)
        lines.append(line: fields.map { values.text(at: $0).printable }.joined(separator: "\t"))
    }
}
