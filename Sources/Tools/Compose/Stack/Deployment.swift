/// The part of a service that stands under `deploy` in a compose file.
struct Deployment: Encodable {
    private enum CodingKeys: String, CodingKey {
        case replicas
        case policy = "restart_policy"
    }

    private struct Policy: Encodable, Equatable {
        private enum CodingKeys: String, CodingKey {
            case delay, window
            case maximum = "x-max-delay"
            case limit = "max_attempts"
        }

        var delay: String?
        var maximum: String?
        var window: String?
        var limit: Int?
    }

    private let replicas: Int?
    private let policy: Policy?

    /// - Returns: `nil` where there is nothing to tell.
    init?(_ service: Service) {
        var policy = Policy()
        if let backoff = service.backoff {
            policy.delay = backoff.initial.composeText
            policy.maximum = backoff.maximum.composeText
            policy.window = backoff.resetAfter.composeText
        }
        // `on-failure:3` says its limit itself.
        if case .always(let limit) = service.restart { policy.limit = limit }
        self.policy = policy == Policy() ? nil : policy
        replicas = service.replicas == 1 ? nil : service.replicas
        if self.policy == nil, replicas == nil { return nil }
    }
}
