package import HTTPTypes
package import Hummingbird
internal import NIOCore
package import Support

extension Response {
    package static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        .json(bytes: Array(value.description.utf8), status: status)
    }

    /// - Parameter bytes: A JSON value.
    package static func json(bytes: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func html(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    package static let done = Response(status: .noContent, headers: [.cacheControl: "no-store"])
}
