internal import Foundation

/// The tree of a value that is being encoded.
private final class JSONEncoding {
    var tree = JSONTree()
}

/// A node of a tree, to which a type encodes itself.
struct JSONNode: Encoder {
    private let encoding: JSONEncoding
    private let node: Int

    /// Encodes a value.
    static func tree(of value: some Encodable) throws -> JSONTree {
        let encoding = JSONEncoding()
        try JSONNode(encoding: encoding, node: JSONTree.root).encode(value)
        return encoding.tree
    }

    var codingPath: [any CodingKey] { encoding.tree.codingPath(to: node) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        encoding.tree.makeObject(node)
        return KeyedEncodingContainer(JSONMembers(object: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        encoding.tree.makeArray(node)
        return JSONElements(array: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Adds a member to the object.
    fileprivate func member(_ name: String) -> JSONNode {
        JSONNode(encoding: encoding, node: encoding.tree.addMember(name, to: node))
    }

    /// The member that was added before, or a new one.
    fileprivate func nested(_ name: String) -> JSONNode {
        guard let known = encoding.tree.member(name, of: node) else { return member(name) }
        return JSONNode(encoding: encoding, node: known)
    }

    /// Adds an element to the array.
    fileprivate func element() -> JSONNode {
        JSONNode(encoding: encoding, node: encoding.tree.addElement(to: node))
    }

    /// The number of elements of the array.
    fileprivate var count: Int { encoding.tree.count(of: node) }
}

extension JSONNode: SingleValueEncodingContainer {
    func encodeNil() { encoding.tree.write(literal: "null", to: node) }
    func encode(_ value: Bool) { encoding.tree.write(literal: value ? "true" : "false", to: node) }
    func encode(_ value: String) { encoding.tree.write(string: value, to: node) }
    func encode(_ value: some FixedWidthInteger & Encodable) { write(number: value.description) }
    func encode(_ value: Double) throws { try write(floating: value) }
    func encode(_ value: Float) throws { try write(floating: value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        // Foundation's encoder has a form of its own for these types.
        if Value.self == Date.self, let date = value as? Date { return try write(date) }
        if Value.self == Data.self, let data = value as? Data { return encode(data.base64EncodedString()) }
        if Value.self == URL.self, let url = value as? URL { return encode(url.absoluteString) }
        if Value.self == Decimal.self, let decimal = value as? Decimal { return write(number: "\(decimal)") }
        do {
            try value.encode(to: self)
        } catch {
            encoding.tree.clear(node)
            throw error
        }
        encoding.tree.finish(node)
    }

    private func write(number: String) { encoding.tree.write(json: number.utf8, to: node) }

    private func write<Number: BinaryFloatingPoint & CustomStringConvertible>(floating value: Number) throws {
        guard let text = JSONWriter.text(of: value) else {
            throw EncodingError.invalidValue(
                value, context("Unable to encode \(Number.self).\(value) directly in JSON."))
        }
        write(number: text)
    }

    private func write(_ date: Date) throws {
        guard Timestamp.canHold(date) else {
            throw EncodingError.invalidValue(date, context("a date is outside the years 0000 to 9999"))
        }
        encode(Timestamp.text(of: date))
    }

    private func context(_ description: String) -> EncodingError.Context {
        EncodingError.Context(codingPath: codingPath, debugDescription: description)
    }

    /// Encodes a JSON value without the containers of `Codable`.
    func write(_ value: JSONValue) throws {
        var json: [UInt8] = []
        try json.append(json: value, levels: JSONWriter.depthLimit - codingPath.count)
        write(json: json)
    }

    /// Gives the node a value that is JSON already.
    func write(json: [UInt8]) { encoding.tree.write(json: json, to: node) }
}

/// The members of an object.
private struct JSONMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let object: JSONNode

    var codingPath: [any CodingKey] { object.codingPath }

    func encodeNil(forKey key: Key) { object.member(key.stringValue).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { object.member(key.stringValue).encode(value) }
    func encode(_ value: String, forKey key: Key) { object.member(key.stringValue).encode(value) }
    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) {
        object.member(key.stringValue).encode(value)
    }
    func encode(_ value: Double, forKey key: Key) throws { try object.member(key.stringValue).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try object.member(key.stringValue).encode(value) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try object.member(key.stringValue).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        object.nested(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        object.nested(key.stringValue).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { object.member(JSONKey.super.stringValue) }
    func superEncoder(forKey key: Key) -> any Encoder { object.member(key.stringValue) }
}

/// The elements of an array.
private struct JSONElements: UnkeyedEncodingContainer {
    let array: JSONNode

    var codingPath: [any CodingKey] { array.codingPath }
    var count: Int { array.count }

    func encodeNil() { array.element().encodeNil() }
    func encode(_ value: Bool) { array.element().encode(value) }
    func encode(_ value: String) { array.element().encode(value) }
    func encode(_ value: some FixedWidthInteger & Encodable) { array.element().encode(value) }
    func encode(_ value: Double) throws { try array.element().encode(value) }
    func encode(_ value: Float) throws { try array.element().encode(value) }
    func encode(_ value: some Encodable) throws { try array.element().encode(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        array.element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { array.element().unkeyedContainer() }
    func superEncoder() -> any Encoder { array.element() }
}
