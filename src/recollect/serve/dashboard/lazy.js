// Libraries that only some screens need, loaded when the first of them is opened.
const loaded = new Map();

export function library(name) {
  if (!loaded.has(name)) {
    loaded.set(name, new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = new URL(`./vendor/${name}.js`, import.meta.url).href;
      script.onload = done;
      script.onerror = () => (loaded.delete(name), failed(new Error(`${name} could not be loaded.`)));
      document.head.append(script);
    }));
  }
  return loaded.get(name);
}
