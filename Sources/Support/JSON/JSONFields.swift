/// A type whose members are listed once, for reading and for writing its JSON. This is several times as fast as
/// encoding and decoding with the containers of `Codable`.
package protocol JSONRecord: Codable {
    /// A value whose members are replaced by those that are read.
    static var blank: Self { get }

    /// Writes the members of this value, or replaces them by those that are read.
    ///
    /// The members are listed in the order of their names, which is their order in the JSON.
    mutating func list(_ fields: inout JSONFields) throws
}

extension JSONRecord {
    /// Decodes a record from JSON; from anything else by way of a ``JSONValue``.
    public init(from decoder: any Decoder) throws {
        let reader =
            if let reader = decoder as? JSONReader {
                reader
            } else {
                JSONReader(try JSONDocument(parsing: JSONWriter.bytes(of: JSONValue(from: decoder))), 0)
            }
        var fields = JSONFields(reading: reader)
        self = .blank
        try fields.read(reader) { try list(&$0) }
    }

    /// Encodes a record as JSON; as anything else by way of a ``JSONValue``.
    public func encode(to encoder: any Encoder) throws {
        var fields = JSONFields()
        fields.append("{")
        var record = self
        try record.list(&fields)
        fields.append("}")
        if let node = encoder as? JSONNode { return node.write(json: fields.json) }
        try JSONDocument(parsing: fields.json).value.encode(to: encoder)
    }
}

/// The members of a ``JSONRecord`` and of the records in it.
package struct JSONFields {
    /// The JSON that has been written. Empty while a value is read.
    fileprivate var json: [UInt8] = []
    /// The object that is read. Nil while a value is written.
    private var object: JSONReader?
    /// The index of the name after the member that was read last. It is used only if the members are read in their order
    /// in the document, so that of two with the same name the first one counts.
    private var next = 0

    fileprivate init() {
        json.reserveCapacity(1024)
    }

    fileprivate init(reading object: JSONReader) {
        self.object = object
    }

    package var isReading: Bool { object != nil }

    // MARK: Members

    package mutating func field(_ name: StaticString, _ value: inout String) throws {
        if isReading { value = try member(name).string() } else { write(name, value) }
    }

    /// A member that is absent if it is nil.
    package mutating func field(_ name: StaticString, _ value: inout String?) throws {
        if isReading { value = try present(name)?.string() } else if let value { write(name, value) }
    }

    /// A member that is null if it is nil. It may be absent in what is read.
    package mutating func field(_ name: StaticString, orNull value: inout String?) throws {
        if isReading {
            value = try present(name)?.string()
        } else if let value {
            write(name, value)
        } else {
            null(name)
        }
    }

    /// A member that is absent if it is nil.
    package mutating func field(_ name: StaticString, _ value: inout Bool?) throws {
        if isReading {
            value = try present(name)?.bool()
        } else if let value {
            begin(name)
            append(value ? "true" : "false")
        }
    }

    package mutating func field(_ name: StaticString, _ value: inout [String]) throws {
        if isReading { value = try member(name).strings() } else { write(name, value) }
    }

    /// A list that is absent if it is empty.
    package mutating func field(_ name: StaticString, unlessEmpty value: inout [String]) throws {
        if isReading {
            value = try present(name)?.strings() ?? []
        } else if !value.isEmpty {
            write(name, value)
        }
    }

    package mutating func field(_ name: StaticString, _ value: inout [String: JSONValue]) throws {
        if isReading {
            value = try member(name).members { try $0.value() }
        } else {
            begin(name)
            try json.append(json: .object(value), levels: JSONWriter.depthLimit)
        }
    }

    /// The error for a member that was read and is not valid.
    package func corrupted(_ name: StaticString, _ description: String) -> DecodingError {
        let path = (object?.codingPath ?? []) + [JSONKey(stringValue: "\(name)")]
        return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: description))
    }

    // MARK: Writing

    package mutating func begin(_ name: StaticString) {
        if json.last != UInt8(ascii: "{") { append(",") }
        append("\"")
        append(name)
        append("\":")
    }

    package mutating func null(_ name: StaticString) {
        begin(name)
        append("null")
    }

    package mutating func write(_ name: StaticString, _ string: String) {
        begin(name)
        json.append(string: string)
    }

    private mutating func write(_ name: StaticString, _ list: [String]) {
        begin(name)
        append("[")
        var isFirst = true
        for string in list {
            if !isFirst { append(",") }
            isFirst = false
            append(string: string)
        }
        append("]")
    }

    package mutating func append(string: String) { json.append(string: string) }
    package mutating func append(number: Int) { json.append(contentsOf: number.description.utf8) }
    /// Appends a value that is JSON already.
    package mutating func append(json more: [UInt8]) { json.append(contentsOf: more) }

    package mutating func append(_ literal: StaticString) { json.append(literal) }

    // MARK: Reading

    /// Calls `body` with the members of an object.
    package mutating func read(_ reader: JSONReader, _ body: (inout JSONFields) throws -> Void) throws {
        try reader.checkObject()
        let (outer, outerNext) = (object, next)
        (object, next) = (reader, reader.index + 1)
        defer { (object, next) = (outer, outerNext) }
        try body(&self)
    }

    /// The value of a member. Nil if there is none.
    private mutating func find(_ name: StaticString) -> JSONReader? {
        guard let object else { return nil }
        let document = object.document
        if next < document.values[object.index].end, document.string(at: next, is: name) {
            defer { next = document.next(after: next + 1) }
            return JSONReader(document, next + 1)
        }
        return document.members(of: object.index).first { document.string(at: $0, is: name) }
            .map { JSONReader(document, $0 + 1) }
    }

    package mutating func member(_ name: StaticString) throws -> JSONReader {
        if let member = find(name) { return member }
        throw object?.missing(JSONKey(stringValue: "\(name)")) ?? corrupted(name, "the field is missing")
    }

    /// The value of a member. Nil if there is none, or if it is null.
    package mutating func present(_ name: StaticString) -> JSONReader? {
        find(name).flatMap { $0.decodeNil() ? nil : $0 }
    }

}
