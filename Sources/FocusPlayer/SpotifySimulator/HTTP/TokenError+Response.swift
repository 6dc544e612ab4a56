import HTTPTypes
import Hummingbird

extension TokenError: HTTPResponseError {
    /// RFC 6749 §5.2
    var status: HTTPResponse.Status { .badRequest }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let payload = Payload(error: code, errorDescription: message)
        var response = try context.responseEncoder.encode(payload, from: request, context: context)
        response.status = status
        return response
    }

    private struct Payload: Encodable {
        let error: Code
        let errorDescription: String
    }
}
