/// One figure, beside the one that it is compared with.
package struct BenchmarkResult: Encodable, Sendable {
    package let name: String
    package let value: Double
    package let unit: String
    /// What the value is compared with.
    package let baseline: String
    /// In the same unit, from the same run.
    package let baselineValue: Double
    /// `value` / `baselineValue`.
    package let ratio: Double
    /// The circumstances that the value depends on.
    package let settings: [String: SettingValue]
    /// What went wrong while it was measured, on one line: messages were lost, for example.
    package let failure: String?

    init(
        name: String, value: Double, unit: String, baseline: String, baselineValue: Double,
        settings: [String: SettingValue], failure: String? = nil
    ) {
        self.name = name
        self.value = value
        self.unit = unit
        self.baseline = baseline
        self.baselineValue = baselineValue
        ratio = value / baselineValue
        self.settings = settings
        self.failure = failure
    }

    private enum CodingKeys: String, CodingKey {
        case name, value, unit, baseline, baselineValue, ratio, settings
    }
}
