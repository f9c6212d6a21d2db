// What every module needs of others, by one name each.
export {
  html, render, Component, createContext, useState, useReducer, useEffect, useLayoutEffect, useRef, useMemo,
  useCallback, useContext, useErrorBoundary,
} from "./vendor/preact.js";
