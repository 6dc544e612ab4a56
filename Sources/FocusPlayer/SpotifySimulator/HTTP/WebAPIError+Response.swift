import HTTPTypes
import Hummingbird

extension WebAPIError: HTTPResponseError {
    var status: HTTPResponse.Status { HTTPResponse.Status(code: statusCode) }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let payload = Payload(error: .init(status: statusCode, message: message, reason: reason))
        var response = try context.responseEncoder.encode(payload, from: request, context: context)
        response.status = status
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        // RFC 6750 §3
        if statusCode == 401 { response.headers[.wwwAuthenticate] = #"Bearer realm="spotify""# }
        return response
    }

    private struct Payload: Encodable {
        let error: Body

        struct Body: Encodable {
            let status: Int
            let message: String
            let reason: String?
        }
    }
}
