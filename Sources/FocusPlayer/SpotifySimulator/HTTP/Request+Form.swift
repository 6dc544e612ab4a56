import Hummingbird

extension Request {
    /// The query, decoded as a form: `+` is a space.
    ///
    /// - Throws: `HTTPError` 400 when a parameter comes twice or cannot be decoded.
    func queryFields() throws -> [String: String] {
        try Self.fields(uri.query ?? "")
    }

    /// The body, decoded as a form.
    ///
    /// - Throws: `HTTPError` 400 when a parameter comes twice or cannot be decoded, 413 when it is too long.
    func formFields() async throws -> [String: String] {
        let body = try await body.collect(upTo: 64 * 1024)
        return try Self.fields(String(buffer: body))
    }

    private static func fields(_ text: String) throws -> [String: String] {
        do {
            return try URLEncodedFormDecoder().decode([String: String].self, from: text)
        } catch {
            throw HTTPError(.badRequest, message: "Malformed form")
        }
    }
}
