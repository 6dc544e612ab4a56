import Foundation
import HTTPClient
import HTTPTypes

/// A response, with what the tests read out of it.
struct Answer {
    let status: Int
    let headers: HTTPFields
    let text: String

    init(_ response: HTTPClient.Response) {
        status = response.status.code
        headers = response.headers
        text = response.text
    }

    func decoded<Payload: Decodable>(_ type: Payload.Type = Payload.self) throws -> Payload {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(text.utf8))
    }

    /// The Web API's error as “status message reason”.
    var webAPIError: String {
        get throws {
            let error = try decoded(WebAPIEnvelope.self).error
            return ([String(error.status), error.message] + (error.reason.map { [$0] } ?? [])).joined(separator: " | ")
        }
    }

    /// The token endpoint's error as “status code description”.
    var tokenError: String {
        get throws {
            let error = try decoded(TokenFailure.self)
            return "\(status) | \(error.error) | \(error.errorDescription)"
        }
    }

    /// The query of the address that the response redirects to.
    var redirectQuery: [String: String] {
        let items = headers[.location].flatMap(URLComponents.init(string:))?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }
}

private struct WebAPIEnvelope: Decodable {
    struct Body: Decodable {
        let status: Int
        let message: String
        let reason: String?
    }
    let error: Body
}

private struct TokenFailure: Decodable {
    let error: String
    let errorDescription: String
}
