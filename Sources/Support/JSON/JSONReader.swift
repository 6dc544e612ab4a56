internal import Foundation

/// Decodes values from JSON, with the rules of Foundation's decoder and with dates in the form of ``Timestamp``. Unlike
/// Foundation's decoder it refuses all that is not JSON (RFC 8259), also in members that no type reads.
///
/// The JSON is parsed once. A string or a number is read when the type that is decoded asks for it.
package struct JSONReader {
    let document: JSONDocument
    /// The index of the value in the document.
    let index: Int

    init(_ document: JSONDocument, _ index: Int) {
        self.document = document
        self.index = index
    }

    /// Decodes a value from JSON in UTF-8.
    /// - Throws: `DecodingError` if the bytes are not one JSON value, or do not match the type.
    package static func decode<Value: Decodable>(_ type: Value.Type, from json: some Sequence<UInt8>) throws -> Value {
        try JSONReader(JSONDocument(parsing: Array(json)), 0).read(type)
    }

    private var kind: JSONDocument.Kind { document.values[index].kind }

    private func reader(of index: Int) -> JSONReader { JSONReader(document, index) }

    // MARK: Values

    package func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Foundation's decoder has a form of its own for these types.
        if type == Date.self, let date = try date() as? Value { return date }
        if type == Data.self, let data = try data() as? Value { return data }
        if type == URL.self, let url = try url() as? Value { return url }
        if type == Decimal.self, let decimal = try decimal() as? Value { return decimal }
        return try Value(from: self)
    }

    func bool() throws -> Bool {
        switch kind {
        case .true: return true
        case .false: return false
        default: throw mismatch(Bool.self)
        }
    }

    package func string() throws -> String {
        switch kind {
        case .ascii, .utf8, .escaped: return document.string(at: index)
        default: throw mismatch(String.self)
        }
    }

    func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard kind == .integer || kind == .number else { throw mismatch(type) }
        let digits = document.digits(at: index)
        if let number = kind == .integer ? Number(digits) : Self.whole(digits) { return number }
        throw corrupted("the number \(digits.prefix(40)) does not fit in \(type)")
    }

    /// The whole number that is written with a fraction or an exponent. Nil if it is not a whole number. Beyond 2^53, a
    /// fraction is ignored, as by Foundation's decoder.
    private static func whole<Number: FixedWidthInteger>(_ digits: String) -> Number? {
        guard let double = Double(digits), let number = Number(exactly: double) else { return nil }
        if double.magnitude < 0x1p53 { return number }
        // A `Double` of this size does not have all digits.
        guard let decimal = Decimal(string: digits)?.description else { return nil }
        return Number(decimal.cut(at: ".")?.before ?? decimal[...])
    }

    func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Number.Type) throws -> Number {
        guard kind == .integer || kind == .number else { throw mismatch(type) }
        let digits = document.digits(at: index)
        guard let number = Number(digits), number.isFinite, number != 0 || Self.isZero(digits) else {
            throw corrupted("the number \(digits.prefix(40)) does not fit in \(type)")
        }
        return number
    }

    /// False if a number that is rounded to zero is another one.
    private static func isZero(_ digits: String) -> Bool {
        digits.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
            .allSatisfy { !(UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
    }

    private func date() throws -> Date {
        let date =
            switch kind {
            // Seconds since 2001, which earlier versions wrote.
            case .integer, .number: Date(timeIntervalSinceReferenceDate: try floating(Double.self))
            default: Timestamp.date(from: try string())
            }
        guard let date, Timestamp.canHold(date) else {
            throw corrupted("expected a time such as 2026-03-01T13:00:00.000Z")
        }
        return date
    }

    private func data() throws -> Data {
        guard let data = Data(base64Encoded: try string()) else { throw corrupted("expected Base64") }
        return data
    }

    private func url() throws -> URL {
        guard let url = URL(string: try string()) else { throw corrupted("expected a URL") }
        return url
    }

    private func decimal() throws -> Decimal {
        guard kind == .integer || kind == .number, let number = Decimal(string: document.digits(at: index)) else {
            throw mismatch(Decimal.self)
        }
        return number
    }

    /// The maximum depth of a ``JSONValue`` in a decoded value.
    private static let valueDepth = 128

    /// The value as JSON. A number without a fraction is an integer, however it is written.
    /// - Throws: `DecodingError` if the value is nested more than 128 levels deep in the document, or if a number is too
    ///   large.
    func value() throws -> JSONValue {
        do {
            return try document.value(at: index, levels: max(0, Self.valueDepth - depth)) { index throws(JSONFailure) in
                if let number = try? reader(of: index).integer(Int.self) { return .integer(number) }
                return try document.number(at: index)
            }
        } catch {
            throw corrupted(error.message)
        }
    }

    /// The elements of an array.
    package func elements() throws -> [JSONReader] {
        guard kind == .array else { throw mismatch([Any].self) }
        var elements: [JSONReader] = []
        elements.reserveCapacity(Int(document.values[index].start))
        var place = index + 1
        while place < document.values[index].end {
            elements.append(reader(of: place))
            place = document.next(after: place)
        }
        return elements
    }

    /// The members of an object, with the values that `body` reads.
    package func members<Value>(_ body: (JSONReader) throws -> Value) throws -> [String: Value] {
        try checkObject()
        var members: [String: Value] = [:]
        for name in document.members(of: index) {
            let key = document.string(at: name)
            if members[key] == nil { members[key] = try body(reader(of: name + 1)) }
        }
        return members
    }

    /// - Throws: `DecodingError` if this is not an object.
    func checkObject() throws {
        guard kind == .object else { throw mismatch([String: Any].self) }
    }

    package func number() throws -> Int { try integer(Int.self) }
    func strings() throws -> [String] { try elements().map { try $0.string() } }

    // MARK: The place in the document

    private var depth: Int {
        var (depth, index) = (0, index)
        while index > 0 {
            depth += 1
            index = Int(document.values[index].parent)
        }
        return depth
    }

    /// The names and indices that lead to the value.
    package var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var index = index
        while index > 0 {
            let value = document.values[index]
            let parent = Int(value.parent)
            if index == document.missing { break }
            path.append(
                document.values[parent].kind == .object
                    ? JSONKey(stringValue: document.string(at: index - 1)) : JSONKey(intValue: Int(value.ordinal)))
            index = parent
        }
        return path.reversed()
    }

    private func context(_ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: description)
    }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        let found =
            switch kind {
            case .null: "null"
            case .true, .false: "bool"
            case .integer, .number: "number"
            case .ascii, .utf8, .escaped: "a string"
            case .array: "an array"
            case .object: "a dictionary"
            }
        return kind == .null
            ? .valueNotFound(type, context("Cannot get value of type \(type) -- found null value instead"))
            : .typeMismatch(type, context("Expected to decode \(type) but found \(found) instead."))
    }

    package func corrupted(_ description: String) -> DecodingError { .dataCorrupted(context(description)) }

    /// The error for a member that the object does not have.
    func missing(_ key: some CodingKey) -> DecodingError {
        .keyNotFound(key, context("No value associated with key \(key) (\"\(key.stringValue)\")."))
    }
}

extension JSONReader: Decoder {
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try checkObject()
        return KeyedDecodingContainer(Members(object: self))
    }

    package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard kind == .array else { throw mismatch([Any].self) }
        return Elements(array: self)
    }

    package func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension JSONReader: SingleValueDecodingContainer {
    package func decodeNil() -> Bool { kind == .null }
    package func decode(_ type: Bool.Type) throws -> Bool { try bool() }
    package func decode(_ type: String.Type) throws -> String { try string() }
    package func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        try integer(type)
    }
    package func decode(_ type: Double.Type) throws -> Double { try floating(type) }
    package func decode(_ type: Float.Type) throws -> Float { try floating(type) }
    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read(type) }
}

/// A name or an index in JSON.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    static let `super` = JSONKey(stringValue: "super")
}

/// The members of an object.
private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let object: JSONReader
    /// The indices of the values by name, for an object with many members. Nil if a search is faster.
    private let indices: [String: Int]?

    /// The maximum number of members that are searched one after the other. The time to find all members grows with the
    /// square of their number.
    private static var searchLimit: Int { 16 }

    init(object: JSONReader) {
        self.object = object
        let document = object.document
        guard document.values[object.index].start > Self.searchLimit else {
            indices = nil
            return
        }
        indices = Dictionary(document.members(of: object.index).map { (document.string(at: $0), $0 + 1) }) { first, _ in
            first
        }
    }

    var codingPath: [any CodingKey] { object.codingPath }

    var allKeys: [Key] {
        let document = object.document
        var names: Set<String> = []
        return document.members(of: object.index).map { document.string(at: $0) }.filter { names.insert($0).inserted }
            .compactMap(Key.init(stringValue:))
    }

    /// The value of a member. Nil if there is none.
    private func find(_ key: Key) -> JSONReader? {
        let name = key.stringValue
        let index = indices.map { $0[name] } ?? object.document.member(name, of: object.index)
        return index.map { JSONReader(object.document, $0) }
    }

    private func member(_ key: Key) throws -> JSONReader {
        guard let member = find(key) else { throw object.missing(key) }
        return member
    }

    /// The value of a member. Nil if there is none, or if it is `null`.
    private func present(_ key: Key) -> JSONReader? {
        find(key).flatMap { $0.decodeNil() ? nil : $0 }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).string() }
    func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type, forKey key: Key) throws -> Number {
        try member(key).integer(type)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).floating(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).floating(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).read(type) }

    // The default implementations of these functions look for the member three times.
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(key)?.string() }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try present(key)?.read(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        let document = object.document
        return JSONReader(document, document.member(JSONKey.super.stringValue, of: object.index) ?? document.missing)
    }

    func superDecoder(forKey key: Key) -> any Decoder {
        find(key) ?? JSONReader(object.document, object.document.missing)
    }
}

/// The elements of an array.
private struct Elements: UnkeyedDecodingContainer {
    private let array: JSONReader
    /// The index of the next element in the document.
    private var next: Int
    private(set) var currentIndex = 0

    init(array: JSONReader) {
        self.array = array
        next = array.index + 1
    }

    var codingPath: [any CodingKey] { array.codingPath }
    var count: Int? { Int(array.document.values[array.index].start) }
    var isAtEnd: Bool { currentIndex == count }

    /// The next element.
    private func element(_ type: Any.Type) throws -> JSONReader {
        guard !isAtEnd else {
            let path = codingPath + [JSONKey(intValue: currentIndex)]
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: path, debugDescription: "Unkeyed container is at end."))
        }
        return JSONReader(array.document, next)
    }

    /// Reads the next element, and advances if this succeeds.
    private mutating func advance<Value>(_ type: Any.Type, _ read: (JSONReader) throws -> Value) throws -> Value {
        let value = try read(element(type))
        next = array.document.next(after: next)
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try element(Never.self).decodeNil() else { return false }
        return try advance(Never.self) { _ in true }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try advance(type) { try $0.bool() } }
    mutating func decode(_ type: String.Type) throws -> String { try advance(type) { try $0.string() } }
    mutating func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        try advance(type) { try $0.integer(type) }
    }
    mutating func decode(_ type: Double.Type) throws -> Double { try advance(type) { try $0.floating(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try advance(type) { try $0.floating(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try advance(type) { try $0.read(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try advance(type) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try advance((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try advance((any Decoder).self) { $0 } }
}
