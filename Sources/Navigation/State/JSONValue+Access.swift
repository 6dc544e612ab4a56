extension JSONValue {
    /// The member `name` of an object; nil when there is none or this is no object.
    public subscript(name: String) -> JSONValue? {
        objectValue?[name]
    }

    /// The element at `index` of an array; nil beyond its ends or when this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard let elements = arrayValue, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The value at a dotted path: `songs.0.title` is the title of the first song.
    ///
    /// A part of digits is an index where it meets an array, a name where it meets an object.
    ///
    /// - Parameter path: Member names and indices, joined by dots; the empty path is the value itself.
    /// - Returns: What stands there, nil when nothing does.
    public func value(at path: String) -> JSONValue? {
        value(at: path.split(separator: ".").map(String.init))
    }

    /// The value at a path that is taken apart already.
    package func value(at path: [String]) -> JSONValue? {
        path.reduce(self as JSONValue?) { value, part in
            guard case .array = value else { return value?[part] }
            return Int(part).flatMap { value?[$0] }
        }
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The truth value, nil when this is none.
    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The whole number, nil when this is none. A fraction of zero is whole.
    public var integerValue: Int? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number, nil when this is none.
    public var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The string, nil when this is none.
    public var stringValue: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The elements of the array, nil when this is none.
    public var arrayValue: [JSONValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    /// The members of the object, nil when this is none.
    public var objectValue: [String: JSONValue]? {
        guard case .object(let value) = self else { return nil }
        return value
    }
}
