extension Dependency: Encodable {
    private enum CodingKeys: String, CodingKey {
        case condition
        case isRequired = "required"
        case restarts = "restart"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(condition.rawValue, forKey: .condition)
        if !isRequired { try container.encode(false, forKey: .isRequired) }
        if restarts { try container.encode(true, forKey: .restarts) }
    }
}
