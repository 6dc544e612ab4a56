import Foundation
import Hummingbird

/// What travels with a request, beside what Hummingbird needs.
struct SimulatorContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// What the request's access token permits; set by `BearerAuthentication`.
    var scopes: Set<Scope> = []

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    var responseEncoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
