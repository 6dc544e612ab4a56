internal import Contracts
internal import Vocabulary

/// Activates the device to play on.
struct DeviceActivationViewModel: ViewModel {
    /// Opening Spotify here makes this a device that can be picked.
    private static let spotify = "https://open.spotify.com/"

    private let devices: [Device]?

    init(documents: LatestDocuments, arguments: [String: String]) {
        devices = documents.devices?.devices
    }

    var content: ScreenContent {
        let choices = (devices ?? []).map { device in
            ScreenAction(
                "\(device.name) · \(device.type)\(device.isActive ? " · active" : "")",
                Command.DeviceSelected(deviceID: device.id))
        }
        return ScreenContent(
            title: "Activate a device", rows: rows,
            actions: choices + [ScreenAction("Open Spotify", Command.OpenAnotherAppRequested(url: Self.spotify))],
            isLoading: devices == nil)
    }

    private var rows: [String] {
        switch devices?.count {
        case nil: ["Looking for devices…"]
        case 0: ["No device was found. Open Spotify on one, close this and play again."]
        default: ["No device is playing. Pick the one to play on."]
        }
    }
}
