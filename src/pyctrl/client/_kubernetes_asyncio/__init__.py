"""ApiClient of kubernetes_asyncio over pyctrl's transport. Imported when `Config.api_client` is first called."""
