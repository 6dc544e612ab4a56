internal import Foundation
internal import HTTPTypes
package import Hummingbird
internal import NIOCore
package import Support

extension Request {
    /// The maximum size of a body in bytes.
    package static let maximumBody = 1 << 20

    /// The body as a JSON object.
    /// - Throws: ``RequestError``.
    package func object() async throws -> JSONValue { try JSONValue(parsing: Data(try await jsonText().utf8)) }

    /// The body as the text of a JSON object.
    /// - Parameter limit: The maximum size of the body in bytes.
    /// - Throws: ``RequestError``.
    package func jsonText(upTo limit: Int = Self.maximumBody) async throws -> JSONText {
        let buffer: ByteBuffer
        do {
            buffer = try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw RequestError.tooLarge(limit: limit)
        }
        guard let text = JSONText(Data(buffer.readableBytesView)), text.isObject else {
            throw RequestError.malformed("the body is not a JSON object")
        }
        return text
    }

    /// The value of a parameter of the query. Nil if it is missing or empty.
    package func parameter(_ name: String) -> String? {
        uri.queryParameters[Substring(name)].map { String($0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension String {
    /// The text, which has to be a name that a page has chosen: letters, digits and hyphens.
    /// - Parameters:
    ///   - lengths: The permitted numbers of characters.
    ///   - object: The object with the name, such as "a view's id".
    /// - Throws: ``RequestError`` if the name is not valid.
    package func checkedName(lengths: ClosedRange<Int>, of object: String) throws(RequestError) -> String {
        let isValid = utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D
        }
        guard isValid, lengths.contains(utf8.count) else {
            throw .malformed(
                "\(object) has \(lengths.lowerBound) to \(lengths.upperBound) letters, digits and hyphens")
        }
        return self
    }
}
