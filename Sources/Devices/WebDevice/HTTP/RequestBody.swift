internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Support

extension Request {
    /// The maximum size of a body in bytes.
    private static let maximumBody = 1 << 20

    /// The body as a JSON object.
    /// - Throws: ``RequestError``.
    func object() async throws -> JSONValue { try JSONValue(parsing: Data(try await jsonText().utf8)) }

    /// The body as the text of a JSON object.
    /// - Throws: ``RequestError``.
    func jsonText() async throws -> JSONText {
        let buffer: ByteBuffer
        do {
            buffer = try await body.collect(upTo: Self.maximumBody)
        } catch is NIOTooManyBytesError {
            throw RequestError.tooLarge
        }
        guard let text = JSONText(Data(buffer.readableBytesView)), text.isObject else {
            throw RequestError.malformed("the body is not a JSON object")
        }
        return text
    }

    /// The value of a parameter of the query. Nil if it is missing or empty.
    func parameter(_ name: String) -> String? {
        uri.queryParameters[Substring(name)].map { String($0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
